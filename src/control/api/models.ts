import { z } from 'zod';
import type { JournalCall } from '../../journal/calls';
import type { Miss } from '../../journal/entry';
import type { FollowedCall } from '../../journal/timeline';
import type { HeldCall } from '../../scenarios/engine/held';
import type { Problem } from '../../scenarios/language';
import type { ScenarioSummary } from '../../scenarios/library/library';
import type { ArmedRule } from '../../scenarios/verdict/armed-rules';
import type { Explanation } from '../../scenarios/verdict/explain';
import type { Leaks, VolumeView } from '../../server/inspect';
import { plainObject, schemaOf, texts } from './schema';

/** What requests and replies are made of. Names as in docs/control.md. */

const count = z.int().min(0);

/** Of what other processes on the same data folder did, or did not do in time. */
const reach = {
  processes: z.array(z.string()).describe('Processes that have done it when this is answered'),
  unreachable: z
    .array(z.string())
    .describe('Sockets of processes that did not answer within a second; they follow the shared files'),
};

export const Reach = z.strictObject(reach);

export const ScenarioProblem = schemaOf<Problem>()({
  file: z.string(),
  line: count,
  column: count,
  path: z.string().describe('Below spec; empty for a whole document'),
  message: z.string(),
  severity: z.enum(['error', 'warning']),
});

export const Scenario = schemaOf<ScenarioSummary>()({
  name: z.string(),
  armed: z.boolean(),
  armedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().optional(),
  stopped: z.string().optional().describe('Why it disarmed itself'),
  fired: count,
  active: count.describe('Calls that it delays or hangs now'),
  volumes: count.describe('Different volumes that its rules fired on'),
  machines: texts.describe('States by machine'),
  rules: z.array(z.strictObject({ name: z.string(), fired: count })),
  file: z.string(),
  labels: texts,
  problems: z.array(ScenarioProblem),
});

export const Volume = schemaOf<VolumeView>()({
  id: z.string(),
  name: z.string(),
  state: z.enum(['created', 'attached', 'staged', 'published']),
  origin: z.string(),
  backend: z.string(),
  fsType: z.string(),
  accessTypes: z.array(z.string()),
  capacityBytes: z.string().describe('Decimal'),
  pvc: z.strictObject({ namespace: z.string().optional(), name: z.string().optional() }).optional(),
  storageClass: z.string().optional(),
  scenario: z.string().optional(),
  parameters: texts,
  attributes: texts,
  attachedTo: z.array(z.string()),
  stages: z.array(z.strictObject({ node: z.string(), path: z.string() })),
  targets: z.array(
    z.strictObject({
      node: z.string(),
      path: z.string(),
      readOnly: z.boolean(),
      pod: texts.optional(),
    }),
  ),
});

const LeaksFound = schemaOf<Leaks>()({
  loops: z.array(z.string()),
  mounts: z.array(z.string()),
  frozen: z.array(z.string()),
});

const NearMiss = schemaOf<Miss>()({
  rule: z.string(),
  key: z.string(),
  found: z.string().optional(),
  wanted: z.string().optional(),
});

export const Call = schemaOf<JournalCall>()({
  process: z.string(),
  call: count.describe('Unique in its process'),
  seq: count,
  method: z.string(),
  volumeId: z.string().optional(),
  nodeId: z.string().optional(),
  pvc: z.strictObject({ namespace: z.string().optional(), name: z.string().optional() }).optional(),
  pod: z
    .strictObject({
      namespace: z.string().optional(),
      name: z.string().optional(),
      uid: z.string().optional(),
    })
    .optional(),
  stagingTargetPath: z.string().optional(),
  targetPath: z.string().optional(),
  at: z.iso.datetime(),
  atMs: z.number(),
  mono: z.number(),
  timeoutMs: z.number().optional(),
  request: plainObject,
  code: z.string().optional().describe('Absent while it runs'),
  message: z.string().optional(),
  durationMs: z.number().optional(),
  response: plainObject.optional(),
  effects: z.array(z.string()),
  fired: z.array(z.string()).describe('scenario/rule'),
  misses: z.array(NearMiss),
  abandoned: z.boolean().optional(),
  pending: z.boolean(),
  lost: z.boolean().optional(),
  endedSeq: count.optional(),
  endedAtMs: z.number().optional(),
});

export const CallChange = schemaOf<FollowedCall>()({
  change: z.enum(['received', 'answered', 'lost']),
  call: Call,
});

const RuleMethods = schemaOf<ArmedRule>()({
  rule: z.string(),
  methods: z.union([z.array(z.string()), z.literal('all')]).optional(),
});

export const CallExplanation = schemaOf<Explanation>()({
  call: Call,
  fired: z.array(z.string()),
  misses: z.array(NearMiss),
  notAsked: z.array(z.string()),
  otherMethods: z.array(RuleMethods),
  notArmed: z.array(z.strictObject({ rule: z.string(), why: z.string() })),
  armedKnown: z.boolean(),
});

const Registration = z.strictObject({
  state: z
    .enum(['off', 'waiting', 'registered', 'refused'])
    .describe('off: the driver does not register itself; waiting: the kubelet has not said anything yet'),
  since: z.iso.datetime().optional(),
  why: z.string().optional().describe("The kubelet's words when it refused, or what removed the socket"),
  socket: z.string().optional().describe("In the kubelet's plugins_registry"),
  endpoint: z.string().optional().describe('Path of the CSI socket as the kubelet is told'),
  mountPropagation: z
    .string()
    .optional()
    .describe('Why mounts made here do not come to the kubelet, and what to do'),
});

export const ProcessStatus = z.strictObject({
  process: z.string(),
  pid: z.int(),
  version: z.string(),
  driverName: z.string(),
  services: z.enum(['all', 'node', 'controller']),
  nodeId: z.string().optional(),
  backend: z.string(),
  dataDir: z.string(),
  csiSocket: z.string(),
  controlSocket: z.string().optional(),
  controlUrl: z.string().optional(),
  startedAt: z.iso.datetime(),
  lastCall: count.describe('Highest number of a call'),
  held: z.strictObject({ delay: count, hang: count }),
  volumes: count.describe('In the data folder'),
  registration: Registration,
  scenarios: z.strictObject({ loaded: count, armed: count, reloadFailures: count }),
  problems: z.array(ScenarioProblem),
});

export const StatusReply = z.strictObject({
  processes: z.array(ProcessStatus),
  unreachable: reach.unreachable,
});

export const ProbeReply = z.strictObject({
  process: z.string(),
  host: z.enum(['linux', 'memory']),
  abilities: z.array(
    z.strictObject({
      name: z.string(),
      available: z.boolean(),
      why: z.string().optional().describe('Why not, and what to do'),
    }),
  ),
  leaks: LeaksFound,
});

export const ScenariosReply = z.strictObject({
  scenarios: z.array(Scenario),
  problems: z.array(ScenarioProblem),
});

export const ScenarioReply = z.strictObject({
  scenario: Scenario,
  text: z.string().describe('Of its file, which may hold others too'),
});

export const ScenarioText = z.strictObject({ text: z.string().describe('YAML') });

export const PutReply = z.strictObject({
  names: z.array(z.string()),
  problems: z.array(ScenarioProblem).describe('Warnings'),
  ...reach,
});

export const ValidateReply = z.strictObject({
  valid: z.boolean(),
  scenarios: z.array(z.string()),
  problems: z.array(ScenarioProblem),
});

export const RuleRequest = z.strictObject({
  rule: z
    .union([z.string(), plainObject])
    .describe('One line; or a rule, or a whole scenario, as in a scenario file'),
  ttl: z.string().optional().describe('A duration such as 10m, after which it goes away by itself'),
  name: z.string().optional().describe('Of the scenario it becomes; one is made up otherwise'),
});

export const RuleReply = z.strictObject({
  name: z.string(),
  text: z.string().describe('The scenario it became'),
  problems: z.array(ScenarioProblem).describe('Warnings'),
  ...reach,
});

export const VolumesReply = z.strictObject({ volumes: z.array(Volume) });

export const Held = z.strictObject({
  process: z.string(),
  call: count,
  method: z.string(),
  volumeId: z.string().optional(),
  scenario: z.string(),
  rule: z.string(),
  kind: z.enum(['delay', 'hang'] satisfies HeldCall['kind'][]),
  since: z.iso.datetime(),
  heldMs: z.number(),
});

export const HeldReply = z.strictObject({ calls: z.array(Held), unreachable: reach.unreachable });

export const ReleaseRequest = z.strictObject({
  scenario: z.string().optional().describe('That one alone'),
});

export const ReleaseReply = z.strictObject({ released: count, ...reach });

export const MachineRequest = z.strictObject({ state: z.string() });

export const CallsReply = z.strictObject({ calls: z.array(Call) });

export const MarkRequest = z.strictObject({
  name: z.string().regex(/^[^\p{Cc}]{1,200}$/u, 'expected 1 to 200 printable characters'),
});

export const MarkReply = z.strictObject({
  name: z.string(),
  process: z.string(),
  seq: count,
  at: z.iso.datetime(),
});

export const VerdictReply = z.strictObject({
  passed: z.boolean(),
  durationMs: z.number(),
  results: z.array(
    z.strictObject({
      expectation: z.strictObject({
        source: z.string(),
        kind: z.string(),
        optional: z.boolean(),
        at: z.strictObject({ line: count, column: count }),
      }),
      status: z.enum(['passed', 'failed', 'pending', 'skipped', 'unavailable']),
      summary: z.string(),
      nearMiss: z.string().optional(),
      evidence: z.array(Call),
    }),
  ),
  text: z.string().describe('The same for people'),
  junit: z.string().describe('The same as JUnit XML'),
});

export const ResetRequest = z.strictObject({
  scenario: z.string().optional().describe('That one alone'),
  mark: MarkRequest.shape.name.optional().describe('Sets this mark right after'),
});

export const OpenApiReply = plainObject;

export const ProblemReply = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string().describe('Stable'),
  detail: z.string(),
  errors: z.array(ScenarioProblem).optional(),
});
