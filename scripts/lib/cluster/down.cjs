// Takes a cluster down, whatever is left of it: after a crash of any part, and a second time.
'use strict';

const fs = require('node:fs');

const { removeCgroups } = require('./cgroups.cjs');
const { detachLoops } = require('./loops.cjs');
const { destroyNamespaces } = require('./namespaces.cjs');

/** Ends all of it as the loss of power does: what was written stays, what the kernel held is gone. */
async function powerOff({ layout, init }) {
  if (init !== null) await destroyNamespaces(init);
  await removeCgroups(layout);
  await detachLoops(layout.varLib);
  // Memory, on a machine: a container runtime takes what is there for running.
  for (const gone of [layout.containerd.state, layout.furnished])
    fs.rmSync(gone, { recursive: true, force: true });
}

/** @returns {Promise<boolean>} whether there was anything. */
async function down(cluster) {
  const { layout, init } = cluster;
  if (init === null && !fs.existsSync(layout.marker)) {
    await removeCgroups(layout);
    return false;
  }
  await powerOff(cluster);
  fs.rmSync(layout.folder, { recursive: true, force: true, maxRetries: 5 });
  return true;
}

module.exports = { down, powerOff };
