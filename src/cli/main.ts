#!/usr/bin/env -S node --max-semi-space-size=2
// The first line keeps the young generation small: V8's default lets it grow to three times 16 MiB, which a driver that
// answers thousands of short calls fills and never gives back. scripts/lib/node-flags.cjs says the same to scripts.

// Before anything can use the thread pool: mounts of hung disks must not starve file I/O.
process.env.UV_THREADPOOL_SIZE ??= '16';

import { type ServeAlone, serveBundle } from './serve-bundle';

const words = process.argv.slice(2);
const [first, ...rest] = words;

if (first === 'serve') {
  const { serveAlone } = serveBundle()?.load() ?? (require('./serve-alone') as ServeAlone);
  void serveAlone(rest).parse();
} else {
  const { allCommands } = require('./all-commands') as typeof import('./all-commands');
  void allCommands(words).parse();
}
