// Tests on a real cluster, which scripts/e2e.cjs starts. One at a time: there is one node, and golden journals tell of one case each.
const { projects } = require('./jest.config.cjs');
const [{ transform, testEnvironment }] = projects;

module.exports = {
  transform,
  testEnvironment,
  testTimeout: 600_000,
  maxWorkers: 1,
  testMatch: ['<rootDir>/test/cluster/e2e/**/*.test.ts'],
};
