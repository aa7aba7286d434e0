// The kustomize program, built from the module pinned in test/deploy/kustomize.
'use strict';

const path = require('node:path');

const { goBuild, goBuildIsStale, goProblem } = require('./go.cjs');

const PACKAGE = 'sigs.k8s.io/kustomize/kustomize/v5';

function paths(root) {
  return {
    moduleDir: path.join(root, 'test/deploy/kustomize'),
    binary: path.join(root, '.cache/bin/kustomize'),
  };
}

/** Why there is no kustomize and none can be built, as one sentence; null when there is or it can. */
function kustomizeProblem(root) {
  const { moduleDir, binary } = paths(root);
  return goBuildIsStale(moduleDir, binary) ? goProblem(moduleDir) : null;
}

/**
 * Builds kustomize unless it is there and new enough.
 * @returns {Promise<string>} the binary.
 */
async function buildKustomize(children, root) {
  const { moduleDir, binary } = paths(root);
  if (!goBuildIsStale(moduleDir, binary)) return binary;
  const problem = await goBuild(children, { moduleDir, packagePath: PACKAGE, binary, ldflags: '-s -w' });
  if (problem !== null) throw new Error(`kustomize cannot be built: ${problem}`);
  return binary;
}

module.exports = { buildKustomize, kustomizeProblem };
