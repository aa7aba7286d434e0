import type { MethodDefinition } from '@grpc/proto-loader';
import type { RegistrationDefinition } from './gen/pluginregistration/Registration';
import type { CsiDefinitions } from './load';

/** The services of csi.v1. */
export type CsiServiceName = keyof CsiDefinitions;
/** The same, and the one by which the kubelet asks a plugin who it is. */
export type ServiceName = CsiServiceName | 'Registration';

/**
 * The four views of one RPC's messages. A service sees `request` (decoded, complete) and answers `response`
 * (to be encoded, fields optional); a client sends `clientRequest` and sees `clientResponse`. Streaming RPCs
 * answer any number of `response`.
 */
export interface RpcTypes {
  request: object;
  response: object;
  clientRequest: object;
  clientResponse: object;
}

type RpcsOf<Definition> = {
  // The generated definitions also have an index signature, which is no method.
  [M in keyof Definition as string extends M
    ? never
    : number extends M
      ? never
      : M]: Definition[M] extends MethodDefinition<
    infer ClientRequest,
    infer Response,
    infer Request,
    infer ClientResponse
  >
    ? { request: Request; response: Response; clientRequest: ClientRequest; clientResponse: ClientResponse }
    : never;
};

export interface IdentityRpcs extends RpcsOf<CsiDefinitions['Identity']> {}
export interface ControllerRpcs extends RpcsOf<CsiDefinitions['Controller']> {}
export interface GroupControllerRpcs extends RpcsOf<CsiDefinitions['GroupController']> {}
export interface SnapshotMetadataRpcs extends RpcsOf<CsiDefinitions['SnapshotMetadata']> {}
export interface NodeRpcs extends RpcsOf<CsiDefinitions['Node']> {}
/** Of pluginregistration, which a plugin serves on a socket of its own. */
export interface RegistrationRpcs extends RpcsOf<RegistrationDefinition> {}

/** Every method of csi.v1 by name with its message types. */
export interface CsiRpcs
  extends IdentityRpcs,
    ControllerRpcs,
    GroupControllerRpcs,
    SnapshotMetadataRpcs,
    NodeRpcs {}

/** Those of both (method names are unique across the services). */
export interface Rpcs extends CsiRpcs, RegistrationRpcs {}

export type CsiMethod = keyof CsiRpcs;
export type RegistrationMethod = keyof RegistrationRpcs;
export type Method = keyof Rpcs;
export type RequestOf<M extends Method> = Rpcs[M]['request'];
export type ResponseOf<M extends Method> = Rpcs[M]['response'];
export type ClientRequestOf<M extends Method> = Rpcs[M]['clientRequest'];
export type ClientResponseOf<M extends Method> = Rpcs[M]['clientResponse'];
