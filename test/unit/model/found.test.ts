import { createMemoryHost } from '../../../src/host/memory';
import { Bench } from '../../model/bench';
import { groundOf } from '../../model/grounds';
import type { Access, Operation, Operations, Step } from '../../model/operations';
import { Play, Tally } from '../../model/play';

jest.setTimeout(60_000);

const mount: Access = { type: 'mount', mode: 'SINGLE_NODE_WRITER', fs: '', flags: [] };
const block: Access = { ...mount, type: 'block' };
const call = (operation: Operation): Step => ({ kind: 'call', operation });

function create(v: string, fields: Partial<Operations['CreateVolume']> = {}): Step {
  const asked = { range: null, access: [mount], groupable: true, protect: false, source: null, ...fields };
  return call({ rpc: 'CreateVolume', v, ...asked });
}

const attach = (v: string, access: Access, readonly = false) =>
  call({ rpc: 'ControllerPublishVolume', v, node: 'node-1', access, readonly });
const staging = (v: string, at: string, access: Access): Operation => ({
  rpc: 'NodeStageVolume',
  v,
  at,
  access,
  context: 'own',
});

/** Sequences that random play found and that were once answered, or judged, wrongly. */
const SEQUENCES: Record<string, Step[]> = {
  'two volumes at one staging path, a raw device first': [
    create('v0', { access: [block] }),
    attach('v0', block),
    call(staging('v0', 'a', block)),
    create('v1'),
    attach('v1', mount),
    call(staging('v1', 'a', mount)),
  ],
  'two volumes at one staging path at the same moment': [
    create('v0'),
    attach('v0', mount),
    create('v1'),
    attach('v1', mount),
    { kind: 'together', operations: [staging('v0', 'a', mount), staging('v1', 'a', mount)] },
  ],
  'a volume that is staged read-only is asked to grow on the node': [
    create('v0'),
    attach('v0', mount, true),
    call(staging('v0', 'a', mount)),
    call({ rpc: 'NodeExpandVolume', v: 'v0', path: 'a', range: { required: 16n << 20n, limit: 0n } }),
  ],
  // The model took the flag of a mount that is none for true.
  'a raw device is asked to grow on the node': [
    create('v1', { access: [{ ...block, flags: ['ro'] }] }),
    attach('v1', { ...block, flags: ['ro'] }),
    call(staging('v1', 'c', { ...block, flags: ['ro'] })),
    call({
      rpc: 'NodePublishVolume',
      v: 'v1',
      at: 'c',
      target: 't2',
      access: { ...block, flags: ['ro'] },
      readonly: false,
    }),
    call({ rpc: 'NodeExpandVolume', v: 'v1', path: 't2', range: null }),
  ],
  'a volume restored from a snapshot whose name another one has now': [
    create('v0'),
    call({ rpc: 'CreateSnapshot', s: 's0', v: 'v0', dependent: false }),
    call({ rpc: 'DeleteVolume', v: 'v0' }),
    create('v0', { source: { kind: 'snapshot', of: 's0' } }),
    call({ rpc: 'DeleteSnapshot', s: 's0' }),
    call({ rpc: 'CreateSnapshot', s: 's0', v: 'v0', dependent: true }),
    call({ rpc: 'DeleteSnapshot', s: 's0' }),
  ],
};

test.each(Object.entries(SEQUENCES))('%s', async (_what, steps) => {
  const { plugin } = groundOf('memory');
  const bench = await Bench.start({ host: createMemoryHost(), backend: 'memory', plugin });
  try {
    await new Play(bench, new Tally()).run(steps);
  } finally {
    await bench.close();
  }
});
