// Lets `node -r` run the TypeScript sources as Jest does: for processes that a test starts and kills.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { createHash } = require('node:crypto');
const { transformSync } = require('@swc/core');

const cache = path.join(os.tmpdir(), 'fake-csi-test-cache', 'compiled');
fs.mkdirSync(cache, { recursive: true });

require.extensions['.ts'] = (module, filename) => {
  const source = fs.readFileSync(filename, 'utf8');
  const made = path.join(cache, `${createHash('sha256').update(filename).update(source).digest('hex')}.js`);
  if (!fs.existsSync(made)) {
    const { code } = transformSync(source, {
      filename,
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'commonjs' },
    });
    // Several processes may compile the same file at once: each writes one of its own and renames it.
    fs.writeFileSync(`${made}.${process.pid}`, code);
    fs.renameSync(`${made}.${process.pid}`, made);
  }
  module._compile(fs.readFileSync(made, 'utf8'), filename);
};
