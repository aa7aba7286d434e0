import path from 'node:path';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';
import type { ControllerDefinition } from './gen/csi/v1/Controller';
import type { GroupControllerDefinition } from './gen/csi/v1/GroupController';
import type { IdentityDefinition } from './gen/csi/v1/Identity';
import type { NodeDefinition } from './gen/csi/v1/Node';
import type { SnapshotMetadataDefinition } from './gen/csi/v1/SnapshotMetadata';
import type { RegistrationDefinition } from './gen/pluginregistration/Registration';

/** The five services of csi.v1, as grpc.Server.addService and makeClientConstructor take them. */
export interface CsiDefinitions {
  Identity: IdentityDefinition;
  Controller: ControllerDefinition;
  GroupController: GroupControllerDefinition;
  SnapshotMetadata: SnapshotMetadataDefinition;
  Node: NodeDefinition;
}

/** src/csi and dist/csi lie equally deep in the package, next to proto/. */
const protoFolder = path.join(__dirname, '../../proto');

/**
 * What a decoded message looks like: field names as in the .proto, int64 as decimal string, enums as number
 * (an unknown number survives, so that it can be refused), absent scalars as their default, absent messages as
 * null, and for every oneof a property with the name of the arm that is set. The generated types say the same.
 */
const decoding = { keepCase: true, longs: String, enums: Number, defaults: true, oneofs: true };

/** Parses csi.proto, about 50 ms: load once and pass the result on. */
export function loadCsi(folder = protoFolder): CsiDefinitions {
  const loaded = loadSync(path.join(folder, 'csi.proto'), decoding);
  return {
    Identity: service<IdentityDefinition>(loaded, 'csi.v1.Identity'),
    Controller: service<ControllerDefinition>(loaded, 'csi.v1.Controller'),
    GroupController: service<GroupControllerDefinition>(loaded, 'csi.v1.GroupController'),
    SnapshotMetadata: service<SnapshotMetadataDefinition>(loaded, 'csi.v1.SnapshotMetadata'),
    Node: service<NodeDefinition>(loaded, 'csi.v1.Node'),
  };
}

/** The service by which the kubelet asks a plugin who it is. */
export function loadRegistration(folder = protoFolder): RegistrationDefinition {
  const loaded = loadSync(path.join(folder, 'registration.proto'), decoding);
  return service<RegistrationDefinition>(loaded, 'pluginregistration.Registration');
}

function service<Definition>(loaded: PackageDefinition, name: string): Definition {
  const found = loaded[name];
  if (found === undefined) {
    throw new Error(
      `expected service ${name} in the .proto file, found ${Object.keys(loaded).join(', ')}: reinstall fake-csi`,
    );
  }
  // The generated definition describes this same file; the drift test keeps the two together.
  return found as unknown as Definition;
}
