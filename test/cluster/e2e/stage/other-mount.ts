import * as fs from 'node:fs';
import * as path from 'node:path';
import type { RealCluster } from './real-cluster';

const NAME = 'other-bind';
/** As the kubelet sees it, outside all folders of its own. */
const PLACE = `/var/lib/${NAME}`;

/** Where the driver staged the volumes of the cluster, as the kubelet sees it. */
export const stagedIn = (cluster: RealCluster): string[] =>
  cluster
    .mountinfo()
    .map((line) => line.split(' ')[4] ?? '')
    .filter((at) => /\/kubernetes\.io\/csi\/fake\.csi\.test\/[^/]+\/globalmount$/.test(at));

/** A mount of what is staged, that neither the kubelet nor the driver made. */
export class OtherMount {
  constructor(private readonly cluster: RealCluster) {}

  private get folder(): string {
    return path.join(this.cluster.layout.varLib, NAME);
  }

  async make(): Promise<void> {
    const [staging, ...more] = stagedIn(this.cluster);
    if (staging === undefined || more.length > 0)
      throw new Error(`expected one volume that is staged, found ${more.length + (staging ? 1 : 0)}`);
    fs.mkdirSync(this.folder);
    await this.must('mount', '--bind', staging, PLACE);
  }

  /** Where there is none it does nothing. */
  async remove(): Promise<void> {
    if (!fs.existsSync(this.folder)) return;
    const mounted = this.cluster.mountinfo().some((line) => line.split(' ')[4] === PLACE);
    if (mounted) await this.must('umount', PLACE);
    fs.rmdirSync(this.folder);
  }

  private async must(...words: readonly string[]): Promise<void> {
    const { status, stderr } = await this.cluster.inside(words);
    if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
  }
}
