import { z } from 'zod';
import { parseExpression } from '../expression';
import {
  ACCESS_MODES,
  METHOD_NAMES,
  parseMethods,
  parseServices,
  SERVICES,
  unknownName,
  VOLUME_STATES,
} from '../names';
import { parseQuantityTest } from '../numbers';
import { failed, failure, type Parsed } from '../parsed';
import { parsePatterns } from '../patterns';
import { didYouMean } from '../suggest';
import {
  expected,
  flag,
  listOf,
  mapOf,
  nameOf,
  parsedBy,
  patternSources,
  patterns,
  shape,
  text,
} from './base';

export const methods = parsedBy(patternSources, parseMethods).meta({
  description: 'Names of RPCs such as NodeStageVolume, or patterns of them.',
  names: METHOD_NAMES,
});

export const services = parsedBy(patternSources, parseServices).meta({
  description: 'identity, controller, groupController, snapshotMetadata, node or registration.',
  names: Object.keys(SERVICES),
});

const accessMode = parsedBy(patternSources, (sources) => {
  const parsed = parsePatterns(sources);
  if (failed(parsed)) return parsed;
  const unknown = unknownName(parsed.value.patterns, ACCESS_MODES);
  return unknown === undefined
    ? parsed
    : failure(`unknown access mode "${unknown}"${didYouMean(unknown, ACCESS_MODES)}`);
}).meta({ description: 'Names of access modes, or patterns of them.', names: ACCESS_MODES });

const claim = shape(
  {
    namespace: patterns.optional(),
    name: patterns.optional(),
    labels: z
      .unknown()
      .transform((_, context) => {
        context.addIssue({
          code: 'custom',
          message: 'labels of a claim never reach a driver: match its name, or an attribute of the volume',
        });
        return z.NEVER;
      })
      .optional(),
  },
  'a map such as {namespace: db, name: "data-*"}',
);

const capacity = parsedBy(
  z.union([z.string(), z.number()], { error: expected('a size such as ">=1Gi"') }),
  parseQuantityTest,
);

export const volume = shape(
  {
    id: patterns.optional(),
    name: patterns.optional(),
    pvc: claim.optional(),
    storageClass: patterns.optional(),
    parameters: mapOf(patterns, 'a map of StorageClass parameters').optional(),
    attributes: mapOf(patterns, 'a map of volume attributes').optional(),
    fsType: patterns.optional(),
    accessMode: accessMode.optional(),
    block: flag.optional(),
    capacity: capacity.optional(),
  },
  'a map such as {pvc: {name: "data-*"}}',
);

export const pod = shape(
  {
    namespace: patterns.optional(),
    name: patterns.optional(),
    uid: patterns.optional(),
    serviceAccount: patterns.optional(),
  },
  'a map such as {name: app-0}',
);

const stateName = nameOf(
  VOLUME_STATES as unknown as [string, ...string[]],
  'created, attached, staged or published',
);

export const stateNames = z
  .union([stateName, listOf(stateName, 'a list of states')], {
    error: expected('a state or a list of states'),
  })
  .transform((value) => (Array.isArray(value) ? value : [value]));

export const expression = parsedBy(text('an expression such as request.readonly == true'), (source) => {
  const parsed = parseExpression(source);
  return failed(parsed) ? parsed : ({ value: { source, node: parsed.value } } satisfies Parsed<unknown>);
}).meta({
  description:
    'A condition over request, volume, pod, node, call, rule and scenario, such as size(request.volume_id) > 3.',
});

export const match = shape(
  {
    rpc: methods.optional(),
    service: services.optional(),
    node: patterns.optional(),
    volume: volume.optional(),
    pod: pod.optional(),
    state: shape({ volume: stateNames }, 'a map such as {volume: staged}').optional(),
    where: expression.optional(),
  },
  'a map such as {rpc: NodeStageVolume}',
);

export type MatchInput = z.output<typeof match>;
export type VolumeInput = z.output<typeof volume>;
export type PodInput = z.output<typeof pod>;
