// csi-driver-host-path, the driver to compare with: pinned, built from its Go module, never run from anywhere else.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { findGo } = require('../../scripts/lib/go.cjs');

const MODULE = 'github.com/kubernetes-csi/csi-driver-host-path';
const VERSION = 'v1.18.0';

/**
 * Builds hostpathplugin in its own module folder, as its own main module: only there do its `replace` lines and its
 * go.sum hold. The version is set as its Makefile sets it; without one, GetPluginInfo answers UNAVAILABLE.
 * @returns {Promise<{ binary: string } | { problem: string }>}
 */
async function buildHostpath(children, root, say) {
  const binary = path.join(root, `.cache/bin/hostpathplugin-${VERSION}`);
  if (fs.existsSync(binary)) return { binary };
  const go = findGo();
  if (go === null) return { problem: 'Go is not installed' };
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
  say(`fetching and building ${MODULE} ${VERSION}`);
  const fetched = await children.run(go, ['mod', 'download', '-json', `${MODULE}@${VERSION}`], {
    cwd: root,
    env,
  });
  if (fetched.status !== 0) return { problem: whyNot(fetched.output) };
  const { Dir: moduleDir } = JSON.parse(fetched.output);
  fs.mkdirSync(path.dirname(binary), { recursive: true });
  const args = [
    'build',
    '-mod=readonly',
    '-trimpath',
    '-ldflags',
    `-X main.version=${VERSION}`,
    '-o',
    binary,
  ];
  const built = await children.run(go, [...args, './cmd/hostpathplugin'], {
    cwd: moduleDir,
    env: { ...env, GOFLAGS: '' },
  });
  return built.status === 0 ? { binary } : { problem: built.output.trim() };
}

/** The module proxy's own words, without the address that it repeats. */
function whyNot(output) {
  try {
    const { Error: error } = JSON.parse(output);
    return `${MODULE}@${VERSION}: ${error.split('\n').at(-1).trim()}`;
  } catch {
    return output.trim();
  }
}

module.exports = { VERSION, buildHostpath };
