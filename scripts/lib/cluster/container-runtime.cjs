// containerd with the images that there are.
'use strict';

const fs = require('node:fs');

const { identityOf, keepImages, restoreImages } = require('./image-store.cjs');

/** Imports those of `archives` that it was not given yet, as they are now. */
async function provideImages(cluster, archives) {
  const { imported } = cluster.layout;
  const had = fs.existsSync(imported) ? fs.readFileSync(imported, 'utf8').split('\n') : [];
  await cluster.importImages(archives.filter((archive) => !had.includes(identityOf(archive))));
  noteImported(cluster, archives);
}

function noteImported({ layout }, archives) {
  fs.writeFileSync(layout.imported, archives.map(identityOf).join('\n'));
}

async function begin(cluster) {
  cluster.start('containerd');
  await cluster.ready('containerd');
}

/** Its images are those of an earlier cluster, or they are imported, and kept for a later one. */
async function startContainerd(cluster, archives) {
  const { layout } = cluster;
  const isNew = !fs.existsSync(layout.containerd.root);
  if (isNew && (await restoreImages(layout, archives))) noteImported(cluster, archives);
  const isKept = fs.existsSync(layout.imported);
  await begin(cluster);
  await provideImages(cluster, archives);
  if (!isNew || isKept) return;
  await cluster.stop('containerd');
  await keepImages(layout, archives);
  await begin(cluster);
}

module.exports = { provideImages, startContainerd };
