import type { IdempotencyLevel, MessageTypeDefinition, MethodDefinition } from '@grpc/proto-loader';
import type { ControllerDefinition } from './gen/csi/v1/Controller';
import type { GroupControllerDefinition } from './gen/csi/v1/GroupController';
import type { IdentityDefinition } from './gen/csi/v1/Identity';
import type { NodeDefinition } from './gen/csi/v1/Node';
import type { SnapshotMetadataDefinition } from './gen/csi/v1/SnapshotMetadata';
import type { RegistrationDefinition } from './gen/pluginregistration/Registration';
import { type SchemaMethod, schemaServices } from './gen/schema';
import { Reflection } from './reflection';

/** The five services of csi.v1, as grpc.Server.addService and makeClientConstructor take them. */
export interface CsiDefinitions {
  Identity: IdentityDefinition;
  Controller: ControllerDefinition;
  GroupController: GroupControllerDefinition;
  SnapshotMetadata: SnapshotMetadataDefinition;
  Node: NodeDefinition;
}

/**
 * The services with their codecs, from what `npm run generate` made of csi.proto. Messages are prepared at their first use,
 * so load once and pass the result on.
 */
export function loadCsi(): CsiDefinitions {
  const codecs = new Codecs();
  return {
    Identity: codecs.service<IdentityDefinition>('csi.v1.Identity'),
    Controller: codecs.service<ControllerDefinition>('csi.v1.Controller'),
    GroupController: codecs.service<GroupControllerDefinition>('csi.v1.GroupController'),
    SnapshotMetadata: codecs.service<SnapshotMetadataDefinition>('csi.v1.SnapshotMetadata'),
    Node: codecs.service<NodeDefinition>('csi.v1.Node'),
  };
}

/** The service by which the kubelet asks a plugin who it is. */
export function loadRegistration(): RegistrationDefinition {
  return new Codecs().service<RegistrationDefinition>('pluginregistration.Registration');
}

class Codecs {
  private readonly reflection = new Reflection();

  service<Definition>(name: string): Definition {
    const methods = Object.entries(schemaServices[name] ?? {});
    if (methods.length === 0)
      throw new Error(
        `expected service ${name} in proto/, found ${Object.keys(schemaServices).join(', ')}: npm run generate`,
      );
    const made = methods.map(([method, schema]) => [
      method,
      this.method(`/${name}/${method}`, method, schema),
    ]);
    // The generated definition describes the same file; a test holds both against what proto-loader makes of it.
    return Object.fromEntries(made) as Definition;
  }

  private method(path: string, name: string, schema: SchemaMethod): MethodDefinition<object, object> {
    const request = this.message(schema.request);
    const response = this.message(schema.response);
    return {
      path,
      requestStream: false,
      responseStream: schema.responseStream ?? false,
      requestSerialize: request.serialize,
      requestDeserialize: request.deserialize,
      responseSerialize: response.serialize,
      responseDeserialize: response.deserialize,
      originalName: `${name.charAt(0).toLowerCase()}${name.slice(1)}`,
      requestType: request,
      responseType: response,
      options: {
        deprecated: false,
        idempotency_level: 'IDEMPOTENCY_UNKNOWN' as IdempotencyLevel,
        uninterpreted_option: [],
      },
    };
  }

  /** Without a descriptor: only server reflection would ask for it, and we serve none. */
  private message(fullName: string): MessageTypeDefinition<object, object> {
    return {
      format: 'Protocol Buffer 3 DescriptorProto',
      type: { name: fullName.slice(fullName.lastIndexOf('.') + 1) },
      fileDescriptorProtos: [],
      ...this.reflection.codec(fullName),
    };
  }
}
