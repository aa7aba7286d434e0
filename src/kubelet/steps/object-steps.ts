import * as fs from 'node:fs';
import * as path from 'node:path';
import { namesIn } from '../../util/files';
import { formatQuantity } from '../../util/quantity';
import type { Cluster } from '../cluster';
import { keyOfObject, type ManifestObject, type PersistentVolumeClaim, type Pod } from '../objects';
import type { Timeline } from '../timeline/timeline';
import { VOL_DATA_FILE } from '../vol-data';

/** Steps on objects. Each says why it is not possible, or nothing. */
export class ObjectSteps {
  private readonly made = new Set<ManifestObject>();

  constructor(
    private readonly cluster: Cluster,
    private readonly timeline: Timeline,
    /** As the manifests say: what is made of them is a copy. */
    private readonly objects: readonly ManifestObject[],
    /** Takes the pods that were ever created, by `namespace/name`. */
    private readonly created: Set<string>,
  ) {}

  create(names: readonly string[]): string | undefined {
    const { api } = this.cluster;
    const wanted = names.length === 0 ? this.objects.filter((object) => !api.has(object)) : this.named(names);
    if (typeof wanted === 'string') return wanted;
    for (const object of wanted) {
      // An object that was deleted comes again as another one: of the name, not of the uid.
      const uid = this.made.has(object)
        ? api.uid(`${object.kind} ${keyOfObject(object.meta)}`)
        : object.meta.uid;
      const made = { ...object, meta: { ...object.meta, uid } } as ManifestObject;
      this.made.add(object);
      api.add(made);
      if (made.kind === 'Pod') this.created.add(keyOfObject(made.meta));
      this.timeline.add({
        who: 'rehearsal',
        kind: 'object',
        text: `${made.kind} ${keyOfObject(made.meta)} created`,
      });
    }
    return undefined;
  }

  private named(names: readonly string[]): ManifestObject[] | string {
    const found: ManifestObject[] = [];
    for (const name of names) {
      const object = this.objects.find(({ meta }) => meta.name === name || keyOfObject(meta) === name);
      if (!object)
        return `expected a name of the manifests (${this.objects.map(({ meta }) => meta.name).join(', ')}); found ${name}`;
      if (this.cluster.api.has(object)) return `${object.kind} ${name} is there already`;
      found.push(object);
    }
    return found;
  }

  delete(names: readonly string[], isForced = false): string | undefined {
    const { api } = this.cluster;
    const pods = api.pods.all();
    if (names.length === 0) for (const pod of pods) this.deletePod(pod);
    for (const name of names) {
      const claimName = /^pvc\/(.+)$/.exec(name)?.[1];
      if (claimName !== undefined) {
        const claim = api.claims.get(`default/${claimName}`) ?? api.claims.get(claimName);
        if (!claim) return `expected a PVC of ${listed(api.claims.all())}; found ${claimName}`;
        claim.deletionTimestamp ??= this.cluster.api.clock.now();
        continue;
      }
      const plain = name.replace(/^pod\//, '');
      const pod = pods.find(({ meta }) => meta.name === plain || keyOfObject(meta) === plain);
      if (!pod) return `expected a pod of ${listed(pods)}; found ${plain}`;
      this.deletePod(pod);
      if (isForced) api.pods.remove(pod);
    }
    api.changed();
    return undefined;
  }

  private deletePod(pod: Pod): void {
    const { api } = this.cluster;
    pod.deletionTimestamp ??= this.cluster.api.clock.now();
    // No kubelet has to agree.
    if (pod.nodeName === undefined) api.pods.remove(pod);
    api.changed();
  }

  expand(name: string, bytes: bigint): string | undefined {
    const { api } = this.cluster;
    const claim: PersistentVolumeClaim | undefined =
      api.claims.get(`default/${name}`) ?? api.claims.get(name);
    if (!claim) return `expected a PVC of ${listed(api.claims.all())}; found ${name}`;
    if (bytes <= claim.requestBytes)
      return `expected more than ${formatQuantity(claim.requestBytes)}, which ${name} asks for already; found ${formatQuantity(bytes)}`;
    claim.requestBytes = bytes;
    api.changed();
    return undefined;
  }

  damage(act: 'remove' | 'empty' | 'corrupt', podName: string): string | undefined {
    const { api } = this.cluster;
    const pod = api.pods.get(`default/${podName}`) ?? api.pods.get(podName);
    const node = pod?.nodeName === undefined ? undefined : this.cluster.node(pod.nodeName);
    if (!pod || !node) return `expected a pod that has a node (${listed(api.pods.all())}); found ${podName}`;
    const { paths } = node;
    const { uid } = pod.meta;
    const folders = [
      ...namesIn(paths.podCsiVolumes(uid)).map((name) => paths.podVolume(uid, name)),
      ...namesIn(paths.podCsiDevices(uid)).map((name) => paths.blockData(name)),
    ];
    const files = folders
      .map((folder) => path.join(folder, VOL_DATA_FILE))
      .filter((file) => fs.existsSync(file));
    if (files.length === 0) return `pod ${podName} has no ${VOL_DATA_FILE} yet`;
    for (const file of files) {
      if (act === 'remove') fs.rmSync(file);
      else fs.writeFileSync(file, act === 'empty' ? '' : '{"driverName":');
      this.timeline.add({ who: 'rehearsal', kind: 'file', text: `${act}: ${file}` });
    }
    return undefined;
  }
}

function listed(objects: readonly { readonly meta: { readonly name: string } }[]): string {
  return objects.map(({ meta }) => meta.name).join(', ') || 'which there are none';
}
