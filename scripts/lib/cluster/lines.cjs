// The lines of Kubernetes that a cluster can be made of.
'use strict';

const path = require('node:path');

const FOLDER = path.join(__dirname, '../../../test/cluster');

/** What every command takes that is not told another. */
const USUAL_LINE = '1.36';

/** From the oldest to the newest. */
const LINE_NAMES = ['1.32', USUAL_LINE];

/** @throws Error for one that there is not. */
function checkLine(line) {
  if (!LINE_NAMES.includes(line))
    throw new Error(`--kubernetes: expected one of ${LINE_NAMES.join(', ')}, found "${line}"`);
  return line;
}

/** Where what a line has of its own lies: its module, its overlay, and what it did. */
function lineFolder(line, name) {
  return path.join(FOLDER, line === USUAL_LINE ? '' : line, name);
}

module.exports = { LINE_NAMES, USUAL_LINE, checkLine, lineFolder };
