#!/usr/bin/env node
// scenarios/schema.json, from the language that src/scenarios/language reads, for editors.
'use strict';

require('./lib/generated.cjs').writeGenerated('scenarios/schema.json', (built) =>
  built('scenarios/language').jsonSchema(),
);
