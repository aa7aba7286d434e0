// What tests need of a cluster.
'use strict';

const { Cluster } = require('./cluster.cjs');
const { COMPONENT_NAMES } = require('./components.cjs');
const { deploy } = require('./deploy.cjs');
const { down } = require('./down.cjs');
const { makeDriverImage } = require('./driver-image.cjs');
const { clusterProblem, reboot, up } = require('./up.cjs');

module.exports = {
  COMPONENT_NAMES,
  Cluster,
  clusterProblem,
  deploy,
  down,
  makeDriverImage,
  reboot,
  up,
};
