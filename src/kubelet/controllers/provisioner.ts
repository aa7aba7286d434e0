import { parseInt64 } from '../../csi/int64';
import { PROVISIONER_TIMEOUT_MS } from '../constants';
import { volumeCapability } from '../csi/capabilities';
import { rpcErrorText } from '../errors';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  SecretReference,
  SecretReferences,
  StorageClass,
} from '../objects';
import { keyOfObject } from '../objects';
import { type ControllerEnvironment, Sidecar } from './controller-environment';
import { accessibilityRequirements, affinityOf } from './topology';

const PREFIX = 'csi.storage.k8s.io/';
/** client-go's default rate limiter of a queue: 5 ms, doubled up to 1000 s. */
const SAVE_RETRY_START_MS = 5;
const SAVE_RETRY_MAX_MS = 1_000_000;

/** external-provisioner with --extra-create-metadata: CreateVolume for claims, DeleteVolume for volumes nobody claims. */
export class Provisioner extends Sidecar {
  constructor(env: ControllerEnvironment) {
    super(env, 'external-provisioner');
  }

  protected turn(): void {
    const { api } = this.env;
    for (const claim of api.claims.all()) {
      const storageClass = this.classFor(claim);
      if (storageClass)
        this.queue.offer(`create ${keyOfObject(claim.meta)}`, () => this.provision(claim, storageClass));
    }
    for (const pv of api.volumes.all())
      if (this.isToBeDeleted(pv)) this.queue.offer(`delete ${pv.meta.name}`, () => this.delete(pv));
  }

  private classFor(claim: PersistentVolumeClaim): StorageClass | undefined {
    const { api, driverName } = this.env;
    if (claim.phase === 'Bound' || claim.volumeName !== undefined || claim.deletionTimestamp !== undefined)
      return undefined;
    const storageClass = classOf(api.storageClasses.all(), claim);
    if (!storageClass || storageClass.provisioner !== driverName()) return undefined;
    if (claim.storageProvisioner !== storageClass.provisioner) return undefined;
    // Made, and about to be bound.
    if (api.volumes.get(`pvc-${claim.meta.uid}`)) return undefined;
    const waits = storageClass.bindingMode === 'WaitForFirstConsumer' && claim.selectedNode === undefined;
    return waits ? undefined : storageClass;
  }

  private async provision(claim: PersistentVolumeClaim, storageClass: StorageClass): Promise<void> {
    const { api, events, clock, seeded, timeline } = this.env;
    const source = { who: this.who };
    const key = keyOfObject(claim.meta);
    const name = `pvc-${claim.meta.uid}`;
    events.emit(
      source,
      claim,
      'Normal',
      'Provisioning',
      `External provisioner is provisioning volume for claim "${key}"`,
    );
    const parameters = Object.entries(storageClass.parameters).filter(
      ([parameter]) => !parameter.startsWith(PREFIX),
    );
    const secrets = secretsOf(storageClass, claim);
    const { volumeMode } = claim;
    const requirements = accessibilityRequirements(
      api.nodes.all(),
      storageClass.provisioner,
      storageClass,
      claim.selectedNode,
    );
    const asked = { volumeMode, fsType: fsTypeOf(storageClass), mountOptions: storageClass.mountOptions };
    try {
      const context = this.calls.context(PROVISIONER_TIMEOUT_MS, name);
      const { volume } = await this.calls.call(
        'CreateVolume',
        {
          name,
          capacity_range: { required_bytes: claim.requestBytes.toString() },
          volume_capabilities: claim.accessModes.map((mode) => volumeCapability(asked, [mode])),
          parameters: {
            ...Object.fromEntries(parameters),
            [`${PREFIX}pvc/name`]: claim.meta.name,
            [`${PREFIX}pvc/namespace`]: claim.meta.namespace,
            [`${PREFIX}pv/name`]: name,
          },
          secrets: this.secret(secrets.provisioner),
          ...(requirements && { accessibility_requirements: requirements }),
        },
        context,
      );
      if (!volume) throw new Error('expected a volume in the answer of CreateVolume, found none');
      await this.untilWritable(name);
      const capacityBytes = parseInt64('capacity_bytes', volume.capacity_bytes);
      const identity = `${clock.now()}-${Math.floor(seeded.fraction(`provisioner ${name}`) * 10_000)}-${storageClass.provisioner}`;
      const pv: PersistentVolume = {
        kind: 'PersistentVolume',
        meta: { name, namespace: '', uid: api.uid(`PersistentVolume ${name}`) },
        driver: storageClass.provisioner,
        volumeHandle: volume.volume_id,
        fsType: fsTypeOf(storageClass),
        readOnly: false,
        volumeAttributes: {
          ...volume.volume_context,
          'storage.kubernetes.io/csiProvisionerIdentity': identity,
        },
        accessModes: claim.accessModes,
        volumeMode: claim.volumeMode,
        mountOptions: storageClass.mountOptions,
        storageClassName: storageClass.meta.name,
        reclaimPolicy: storageClass.reclaimPolicy,
        secrets,
        nodeAffinity: affinityOf(volume.accessible_topology),
        provisioned: true,
        capacityBytes: capacityBytes === 0n ? claim.requestBytes : capacityBytes,
        phase: 'Available',
        claim: key,
      };
      events.emit(
        source,
        claim,
        'Normal',
        'ProvisioningSucceeded',
        `Successfully provisioned volume ${name}`,
      );
      timeline.add({
        who: this.who,
        kind: 'object',
        about: name,
        text: `PersistentVolume ${name} made: handle ${volume.volume_id}`,
      });
      api.volumes.add(pv);
    } catch (error) {
      const text = rpcErrorText(error);
      const message = `failed to provision volume with StorageClass "${storageClass.meta.name}": ${text}`;
      events.emit(source, claim, 'Warning', 'ProvisioningFailed', message);
      throw error;
    }
  }

  /** A PersistentVolume that cannot be saved is kept and saved later, without another CreateVolume (its volume store). */
  private async untilWritable(name: string): Promise<void> {
    const { api, clock, signal, timeline } = this.env;
    for (let pause = SAVE_RETRY_START_MS; ; pause = Math.min(SAVE_RETRY_MAX_MS, pause * 2)) {
      const failure = api.failureOf('Post', '/api/v1/persistentvolumes');
      if (failure === undefined) return;
      timeline.log({ who: this.who, about: name, text: `Failed to save volume ${name}: ${failure}` });
      await clock.sleep(pause, signal);
    }
  }

  private isToBeDeleted(pv: PersistentVolume): boolean {
    return pv.phase === 'Released' && pv.provisioned && pv.reclaimPolicy === 'Delete';
  }

  private async delete(pv: PersistentVolume): Promise<void> {
    const { api, events, timeline } = this.env;
    try {
      const attachment = api.attachments
        .all()
        .find(({ persistentVolumeName }) => persistentVolumeName === pv.meta.name);
      if (attachment)
        throw new Error(`persistentvolume ${pv.meta.name} is still attached to node ${attachment.nodeName}`);
      const context = this.calls.context(PROVISIONER_TIMEOUT_MS, pv.meta.name);
      await this.calls.call(
        'DeleteVolume',
        { volume_id: pv.volumeHandle, secrets: this.secret(pv.secrets.provisioner) },
        context,
      );
      api.request('Delete', `/api/v1/persistentvolumes/${pv.meta.name}`);
    } catch (error) {
      events.emit({ who: this.who }, pv, 'Warning', 'VolumeFailedDelete', rpcErrorText(error));
      throw error;
    }
    timeline.add({
      who: this.who,
      kind: 'object',
      about: pv.meta.name,
      text: `PersistentVolume ${pv.meta.name} deleted`,
    });
    api.volumes.remove(pv);
  }
}

/** The class that a claim names, or the default one for a claim that says nothing. */
export function classOf(
  classes: readonly StorageClass[],
  claim: PersistentVolumeClaim,
): StorageClass | undefined {
  return classes.find(({ meta, isDefault }) =>
    claim.storageClassName === undefined ? isDefault : meta.name === claim.storageClassName,
  );
}

function fsTypeOf({ parameters }: StorageClass): string {
  return parameters[`${PREFIX}fstype`] ?? '';
}

function secretsOf({ parameters }: StorageClass, claim: PersistentVolumeClaim): SecretReferences {
  const values: Readonly<Record<string, string>> = {
    'pvc.name': claim.meta.name,
    'pvc.namespace': claim.meta.namespace,
    'pv.name': `pvc-${claim.meta.uid}`,
  };
  const fill = (text: string) =>
    text.replace(/\$\{([a-z.]+)\}/g, (whole, key: string) => values[key] ?? whole);
  const reference = (key: string): SecretReference | undefined => {
    const name = parameters[`${PREFIX}${key}-secret-name`];
    const namespace = parameters[`${PREFIX}${key}-secret-namespace`];
    return name === undefined || namespace === undefined
      ? undefined
      : { name: fill(name), namespace: fill(namespace) };
  };
  const found = {
    provisioner: reference('provisioner'),
    controllerPublish: reference('controller-publish'),
    controllerExpand: reference('controller-expand'),
    nodeStage: reference('node-stage'),
    nodePublish: reference('node-publish'),
    nodeExpand: reference('node-expand'),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}
