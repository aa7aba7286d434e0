// Flags for the node that runs the driver; the first line of src/cli/main.ts says the same to a shell.
'use strict';

module.exports = { NODE_FLAGS: ['--max-semi-space-size=2'] };
