#!/usr/bin/env node
// docs/openapi.json, from the route table of src/control/api.
'use strict';

require('./lib/generated.cjs').writeGenerated('docs/openapi.json', (built) =>
  built('control/api/openapi').openApi(),
);
