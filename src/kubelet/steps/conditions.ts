import type { Cluster } from '../cluster';
import { uniqueInlineName, uniqueVolumeName } from '../names';
import { keyOfObject, type Pod } from '../objects';
import type { Timeline } from '../timeline/timeline';
import type { Condition, StateWord } from './grammar';

/** What a name in a step stands for, remembered after the object is gone. */
interface Subject {
  readonly uniqueName: string;
  readonly pvName: string | undefined;
  readonly claim: string | undefined;
}

/** Whether conditions of steps are so. */
export class Conditions {
  private readonly subjects = new Map<string, Subject>();
  /** Every pod that was ever created, by `namespace/name`. */
  readonly created = new Set<string>();

  constructor(
    private readonly cluster: Cluster,
    private readonly timeline: Timeline,
  ) {}

  /** Notes what names stand for while the objects are there. */
  remember(): void {
    const { api } = this.cluster;
    for (const claim of api.claims.all()) {
      const pv = api.volumeOf(claim);
      if (!pv) continue;
      const key = keyOfObject(claim.meta);
      const subject = {
        uniqueName: uniqueVolumeName(pv.driver, pv.volumeHandle),
        pvName: pv.meta.name,
        claim: key,
      };
      for (const name of [key, claim.meta.name, pv.meta.name]) this.subjects.set(name, subject);
    }
    for (const pod of api.pods.all())
      for (const { name, csi } of pod.volumes)
        if (csi) {
          const subject = {
            uniqueName: uniqueInlineName(pod.meta.uid, name),
            pvName: undefined,
            claim: undefined,
          };
          for (const known of [`${pod.meta.name}/${name}`, name]) this.subjects.set(known, subject);
        }
  }

  holds(condition: Condition): boolean {
    switch (condition.kind) {
      case 'not':
        return !this.holds(condition.condition);
      case 'running': {
        const pods = this.podsOf(condition.pods).filter(
          (pod) => pod === undefined || pod.deletionTimestamp === undefined,
        );
        return pods.length > 0 && pods.every((pod) => pod?.phase === 'Running' && pod.containersRunning);
      }
      case 'gone':
        return this.podsOf(condition.pods).every((pod) => pod === undefined);
      case 'clean': {
        const { api } = this.cluster;
        const known = this.cluster.allNodes().some(({ kubelet }) => (kubelet?.asw.all().length ?? 0) > 0);
        return api.pods.all().length === 0 && api.attachments.all().length === 0 && !known;
      }
      case 'event':
        return this.cluster.events
          .all()
          .some(
            ({ reason, object }) =>
              reason === condition.reason &&
              (condition.object === undefined || object.split(/[ /]/).includes(condition.object)),
          );
      case 'state':
        return this.isState(condition.subject, condition.state);
      case 'calls': {
        const count = this.timeline.calls.filter(
          ({ method, code }) =>
            method === condition.method &&
            (condition.code === undefined ? code !== undefined : code === condition.code),
        ).length;
        if (condition.comparison === '=') return count === condition.count;
        return condition.comparison === '>=' ? count >= condition.count : count <= condition.count;
      }
    }
  }

  private podsOf(names: readonly string[]): (Pod | undefined)[] {
    const { api } = this.cluster;
    if (names.length === 0) return [...this.created].map((key) => api.pods.get(key));
    return names.map((name) => api.pods.get(name.includes('/') ? name : `default/${name}`));
  }

  private isState(name: string, state: StateWord): boolean {
    this.remember();
    const subject = this.subjects.get(name);
    if (!subject) return state === 'deleted' && this.cluster.api.claims.get(`default/${name}`) === undefined;
    const { api } = this.cluster;
    const { uniqueName, pvName, claim } = subject;
    const nodes = this.cluster.allNodes();
    const known = nodes.flatMap(({ kubelet }) => kubelet?.asw.get(uniqueName) ?? []);
    const pods = known.flatMap((volume) => [...volume.pods.values()]);
    const attachments = api.attachments
      .all()
      .filter(({ persistentVolumeName }) => persistentVolumeName === pvName);
    const inUse = nodes.some(({ object }) => object.volumesInUse.includes(uniqueName));
    switch (state) {
      case 'bound':
        return claim !== undefined && api.claims.get(claim)?.phase === 'Bound';
      case 'deleted':
        return pvName === undefined || api.volumes.get(pvName) === undefined;
      case 'attached':
        return attachments.some(({ attached }) => attached);
      case 'detached':
        return attachments.length === 0;
      case 'in-use':
        return inUse;
      case 'not-in-use':
        return !inUse;
      case 'staged':
        return known.some(({ device }) => device === 'GloballyMounted');
      case 'stage-uncertain':
        return known.some(({ device }) => device === 'Uncertain');
      case 'not-staged':
        return known.every(({ device }) => device === 'NotMounted');
      case 'mounted':
        return pods.some((pod) => pod.state === 'Mounted');
      case 'mount-uncertain':
        return pods.some((pod) => pod.state === 'Uncertain');
      case 'not-mounted':
        return pods.length === 0;
      case 'forgotten':
        return known.length === 0;
    }
  }
}
