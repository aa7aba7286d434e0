// The csi-sanity program, built from the module pinned in test/sanity/csi-sanity.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { goBuild, goBuildIsStale, goProblem } = require('../go.cjs');

const PACKAGE = 'github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity';

function paths(root) {
  return {
    moduleDir: path.join(root, 'test/sanity/csi-sanity'),
    binary: path.join(root, '.cache/bin/csi-sanity'),
  };
}

/** The version of csi-test that go.mod pins. */
function pinnedVersion(moduleDir) {
  return /kubernetes-csi\/csi-test\/v5 (v\S+)/.exec(
    fs.readFileSync(path.join(moduleDir, 'go.mod'), 'utf8'),
  )[1];
}

/** Why there is no csi-sanity and none can be built, as one sentence; null when there is or it can. */
function sanityProblem(root) {
  const { moduleDir, binary } = paths(root);
  return goBuildIsStale(moduleDir, binary) ? goProblem(moduleDir) : null;
}

/**
 * Builds csi-sanity unless it is there and new enough.
 * @returns {Promise<{ binary: string, problem: string | null }>} `problem` is what the build said.
 */
async function buildSanity(children, root, say) {
  const { moduleDir, binary } = paths(root);
  if (!goBuildIsStale(moduleDir, binary)) return { binary, problem: null };
  const why = goProblem(moduleDir);
  if (why !== null) return { binary, problem: why };
  const version = pinnedVersion(moduleDir);
  say(`building csi-sanity ${version} (go build)`);
  const ldflags = `-s -w -X main.VERSION=${version}`;
  return { binary, problem: await goBuild(children, { moduleDir, packagePath: PACKAGE, binary, ldflags }) };
}

module.exports = { buildSanity, paths, sanityProblem };
