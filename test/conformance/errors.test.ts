import { methods, rpcs } from '../../src/csi/rpcs';
import { Code, CsiError } from '../../src/csi/status';
import type { FaultGate } from '../../src/server/gate';
import { createVolume, MIB, mountCapability } from '../support/lifecycle';
import { codec } from '../unit/csi/wire';
import { outcome, protocol, refusal } from './harness';
import { pathOf, sendRaw } from './raw-client';
import { minimal } from './requests';

const codes = Object.entries(Code).filter((entry): entry is [string, Code] => typeof entry[1] === 'number');
const unary = methods.filter((method) => !rpcs[method].serverStreaming);

/** Every call ends as `end` says. */
const gate = (end: () => Error): FaultGate => ({
  before: async () => {
    throw end();
  },
  after: async (_call, response) => response,
  point: async () => undefined,
});

protocol('errors', (bench) => {
  test('T02 every natural code comes with a sentence of its own', async () => {
    const { csi } = bench;
    const id = await createVolume(bench.driver);
    const small = await bench.start({ maxVolumesPerNode: 1, capacityBytes: BigInt(100 * MIB) });
    const one = await createVolume(small);
    const attach = (volume_id: string, fields: object = {}) =>
      csi.ControllerPublishVolume({
        volume_id,
        node_id: 'node-1',
        volume_capability: mountCapability(),
        ...fields,
      });
    await attach(id);
    const refusals = [
      await refusal(csi.CreateVolume({})),
      await refusal(csi.ControllerGetVolume({ volume_id: 'unknown' })),
      await refusal(attach(id, { readonly: true })),
      await refusal(csi.DeleteVolume({ volume_id: id })),
      await refusal(csi.ListVolumes({ starting_token: 'x' })),
      await refusal(csi.ControllerExpandVolume({ volume_id: id, capacity_range: { limit_bytes: '1' } })),
      await refusal(
        small.csi.ControllerExpandVolume({
          volume_id: one,
          capacity_range: { required_bytes: `${200 * MIB}` },
        }),
      ),
    ];
    expect(refusals.map(({ code }) => code)).toEqual([
      'INVALID_ARGUMENT',
      'NOT_FOUND',
      'ALREADY_EXISTS',
      'FAILED_PRECONDITION',
      'ABORTED',
      'OUT_OF_RANGE',
      'RESOURCE_EXHAUSTED',
    ]);
    // A sentence: it names what is wrong and is not the bare name of its code.
    for (const { message, code } of refusals) {
      expect(message.split(' ').length).toBeGreaterThan(4);
      expect(message).not.toContain(code);
    }
  });

  test.each(codes)('T02 an injected %s without a word: a sentence all the same', async (name, code) => {
    const { csi } = await bench.start({ faults: gate(() => new CsiError(code, '')) });
    for (const method of ['Probe', 'CreateVolume', 'NodePublishVolume', 'GetMetadataDelta'] as const) {
      const refused = await refusal(csi[method](minimal[method] as never));
      expect(refused.code).toBe(name);
      expect(refused.message.split(' ').length).toBeGreaterThan(3);
    }
  });

  test.each([
    ['without a message', new Error('')],
    ['of white space', new CsiError(Code.INTERNAL, ' \n')],
    ['that is no Error', 'boom' as unknown as Error],
  ])('T02 a failure %s: a sentence all the same', async (_what, error) => {
    const { csi } = await bench.start({ faults: gate(() => error) });
    expect((await refusal(csi.Probe())).message).toMatch(/\S+ \S+/);
  });

  test.each([
    ['longer than a header may be', 'x '.repeat(100_000)],
    ['with line breaks and more', 'a\r\nb\0c\td % e'],
    ['with half a character', 'broken \ud83d here'],
  ])('T02 an injected message %s arrives', async (_what, message) => {
    const { csi } = await bench.start({ faults: gate(() => new CsiError(Code.UNAVAILABLE, message)) });
    const refused = await refusal(csi.Probe());
    expect([refused.code, refused.message.length > 3]).toEqual(['UNAVAILABLE', true]);
  });

  test.each(unary)('T03 %s: refused without details, naturally and by a rule', async (method) => {
    const injected = await bench.start({
      faults: gate(() => new CsiError(Code.UNAVAILABLE, 'the array is away')),
    });
    const bytes = codec(method).requestSerialize(minimal[method]);
    const said = await sendRaw(injected, pathOf(method), bytes);
    expect(said).toMatchObject({ code: Code.UNAVAILABLE, message: 'the array is away' });
    expect(said.trailers).not.toContain('grpc-status-details-bin');
    const natural = await sendRaw(bench.driver, pathOf(method), Buffer.alloc(0));
    expect(natural.trailers).not.toContain('grpc-status-details-bin');
  });

  test('T03 what never reached a service: refused without details', async () => {
    for (const [path, bytes] of [
      ['/csi.v1.Controller/NoSuchMethod', Buffer.alloc(0)],
      ['/csi.v2.Controller/CreateVolume', Buffer.alloc(0)],
      [pathOf('CreateVolume'), Buffer.from('ff', 'hex')],
    ] as const) {
      const { code, message, trailers } = await sendRaw(bench.driver, path, bytes);
      expect(Code[code]).toBeDefined();
      expect(message).toMatch(/\S+ \S+/);
      expect(trailers).not.toContain('grpc-status-details-bin');
    }
  });

  test.each([0, -1, 17, 42, 999, Number.NaN, 3.5])(
    'T04 a fault of the code %d, which gRPC does not have: a canonical one on the wire',
    async (code) => {
      const { csi } = await bench.start({
        faults: gate(() => new CsiError(code as Code, 'something odd went wrong')),
      });
      expect(await refusal(csi.Probe())).toEqual({ code: 'UNKNOWN', message: 'something odd went wrong' });
    },
  );

  test('what fails unexpectedly is INTERNAL, and the next call is served', async () => {
    let fail = true;
    const { csi } = await bench.start({
      faults: {
        ...gate(() => new Error('unused')),
        before: async () => {
          if (fail) throw new TypeError('undefined is not a function');
          return undefined;
        },
      },
    });
    expect(await outcome(csi.Probe())).toBe('INTERNAL');
    fail = false;
    expect(await outcome(csi.Probe())).toBe('OK');
  });
});
