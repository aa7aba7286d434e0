import type { Pod } from '../objects';
import type { ActualStateOfWorld } from './actual-state-of-world';
import type { DesiredStateOfWorld, VolumeToMount } from './desired-state-of-world';
import { csiVolumesOf, type Populator } from './populator';

/** Volumes by the names that pods have for them: what a pod's worker asks the volume manager. */
export class PodVolumes {
  constructor(
    private readonly dsw: DesiredStateOfWorld,
    private readonly asw: ActualStateOfWorld,
    private readonly populator: Populator,
  ) {}

  /** Which of the pod's volumes are not there yet; not attached are only those that have to be, and are known. */
  missing(pod: Pod): { unmounted: string[]; unattached: string[] } {
    const { asw, dsw } = this;
    const { uid } = pod.meta;
    return {
      unmounted: csiVolumesOf(pod)
        .filter((name) => {
          const wanted = this.wanted(pod, name);
          return !wanted || asw.get(wanted.uniqueName)?.pods.get(uid)?.state !== 'Mounted';
        })
        .sort(),
      unattached: dsw
        .all()
        .filter(({ isAttachable, uniqueName }) => isAttachable && !asw.get(uniqueName))
        .flatMap(({ pods }) => pods.get(uid)?.outerNames ?? [])
        .sort(),
    };
  }

  areMounted(pod: Pod): boolean {
    return this.populator.isProcessed(pod.meta.uid) && this.missing(pod).unmounted.length === 0;
  }

  /** The folder's name of one of its volumes; undefined for what no CSI driver serves. */
  specNameOf(pod: Pod, name: string): string | undefined {
    return this.wanted(pod, name)?.pods.get(pod.meta.uid)?.spec.specName;
  }

  private wanted({ meta }: Pod, name: string): VolumeToMount | undefined {
    return this.dsw.all().find(({ pods }) => pods.get(meta.uid)?.outerNames.includes(name));
  }
}
