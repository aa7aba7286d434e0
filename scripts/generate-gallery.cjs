#!/usr/bin/env node
// Writes the list of files in scenarios/Kustomization: kustomize takes no patterns.
//
//   node scripts/generate-gallery.cjs
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const folder = path.join(__dirname, '../scenarios');
const file = path.join(folder, 'Kustomization');
const [head] = fs.readFileSync(file, 'utf8').split(/(?<=^ {4}files:\n)/m);
const names = fs
  .readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .sort();
fs.writeFileSync(file, head + names.map((name) => `      - ${name}\n`).join(''));
