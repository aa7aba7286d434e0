import type { Capabilities, CapabilityKind } from '../csi/capabilities';
import { closedGate, type Gate } from '../csi/capabilities';
import { schemaEnums } from '../csi/gen/schema';
import { type ClientResponseOf, type CsiMethod, rpcs } from '../csi/rpcs';
import { type Answer, answerText, type ResponseTo } from './answer';
import type { Connection } from './connection';

/** What a driver says about itself, asked once before the first case. */
export interface Facts {
  readonly name: string;
  readonly version: string;
  readonly capabilities: Capabilities;
  /** Undefined where the Node service is not served. */
  readonly node: ClientResponseOf<'NodeGetInfo'> | undefined;
}

/** The driver cannot be asked anything. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  /** As every command's: there is no driver. */
  readonly code = 'unreachable';
}

const ENUMS = {
  service: 'csi.v1.PluginCapability.Service.Type',
  expansion: 'csi.v1.PluginCapability.VolumeExpansion.Type',
  controller: 'csi.v1.ControllerServiceCapability.RPC.Type',
  group: 'csi.v1.GroupControllerServiceCapability.RPC.Type',
  node: 'csi.v1.NodeServiceCapability.RPC.Type',
} as const;

/** Numbers of no known name stay numbers. */
function nameOf(kind: keyof typeof ENUMS, number: number | undefined): string {
  const found = Object.entries(schemaEnums[ENUMS[kind]] ?? {}).find(([, value]) => value === number);
  return found?.[0] ?? `${number}`;
}

/** Who is not there by then does not come. */
const CONNECT_MS = 10_000;

/** @throws Unreachable when nobody listens at the socket, or GetPluginCapabilities is refused */
export async function askFacts(connection: Connection, timeoutMs: number, socket: string): Promise<Facts> {
  const ask = <M extends CsiMethod>(method: M) => connection.send(method, {}, { timeoutMs });
  const demanded = <M extends CsiMethod>(answer: Answer<M>): ResponseTo<M> => {
    if (answer.code === 'OK' && answer.response !== undefined) return answer.response;
    throw new Unreachable(
      `${answer.method}: expected an answer from a CSI driver, found ${answerText(answer)}`,
    );
  };
  const info = await connection.send(
    'GetPluginInfo',
    {},
    { timeoutMs: Math.min(timeoutMs, CONNECT_MS), waitForReady: true },
  );
  if (info.code === 'DEADLINE_EXCEEDED' || info.code === 'UNAVAILABLE')
    throw new Unreachable(
      `unix://${socket}: expected a CSI driver, found nobody who answers GetPluginInfo; start it`,
    );
  const { capabilities: ofPlugin } = demanded(await ask('GetPluginCapabilities'));
  const plugin = new Set(
    ofPlugin.map(({ service, volume_expansion }) =>
      service ? nameOf('service', service.type) : nameOf('expansion', volume_expansion?.type),
    ),
  );
  // A service that is not there is UNIMPLEMENTED: then it has no capabilities.
  const ofController = (await ask('ControllerGetCapabilities')).response?.capabilities ?? [];
  const ofGroup = (await ask('GroupControllerGetCapabilities')).response?.capabilities ?? [];
  const ofNode = (await ask('NodeGetCapabilities')).response?.capabilities ?? [];
  const node = await ask('NodeGetInfo');
  return {
    name: info.response?.name ?? '',
    version: info.response?.vendor_version ?? '',
    capabilities: {
      plugin,
      controller: new Set(ofController.map(({ rpc }) => nameOf('controller', rpc?.type))),
      group: new Set(ofGroup.map(({ rpc }) => nameOf('group', rpc?.type))),
      node: new Set(ofNode.map(({ rpc }) => nameOf('node', rpc?.type))),
    },
    node: node.code === 'OK' ? node.response : undefined,
  };
}

/** What a method waits for: nothing, a gate that is closed, or the Node service. */
export function missingFor(method: CsiMethod, facts: Facts): string | undefined {
  const gate = closedGate(rpcs[method].gates, facts.capabilities);
  if (gate) return `${method} needs ${gateText(gate)}`;
  if (rpcs[method].service === 'Node' && !facts.node) return `${method} needs the Node service`;
  return undefined;
}

export function gateText({ kind, anyOf }: Gate): string {
  return anyOf.map((name) => `${kind}.${name}`).join(' or ');
}

export function hasCapability(facts: Facts, capability: string): boolean {
  const [kind = '', name = ''] = capability.split('.');
  return facts.capabilities[kind as CapabilityKind]?.has(name) ?? false;
}
