import type { MountSeen } from './report';

/** A line of mountinfo, as far as it matters here. */
export interface MountLine {
  readonly mountPoint: string;
  readonly root: string;
  readonly device: { readonly major: number; readonly minor: number };
  readonly fsType: string;
  readonly source: string;
  readonly options: readonly string[];
}

/** The mounts of one process, asked by path. */
export class MountTable {
  private readonly byPoint = new Map<string, MountLine[]>();

  constructor(
    private readonly lines: readonly MountLine[],
    /** What is wrong with the device that a filesystem is on; undefined: nothing. */
    private readonly deviceProblem: (line: MountLine) => string | undefined,
  ) {
    for (const line of lines) {
      const known = this.byPoint.get(line.mountPoint);
      if (known) known.push(line);
      else this.byPoint.set(line.mountPoint, [line]);
    }
  }

  /** The uppermost one. */
  at(place: string): MountLine | undefined {
    return this.byPoint.get(place)?.at(-1);
  }

  seen(place: string): MountSeen | undefined {
    const layers = this.byPoint.get(place);
    const line = layers?.at(-1);
    if (!layers || !line) return undefined;
    const { source, fsType, options } = line;
    return { source, fsType, readOnly: options.includes('ro'), layers: layers.length };
  }

  below(folder: string): MountLine[] {
    return this.lines.filter(({ mountPoint }) => mountPoint.startsWith(`${folder}/`));
  }

  /** Other places where the same folder of the same filesystem is mounted (GetMountRefs). */
  references(place: string): string[] {
    const own = this.at(place);
    if (!own) return [];
    return this.lines
      .filter(
        ({ mountPoint, root, device }) =>
          mountPoint !== place &&
          root === own.root &&
          device.major === own.device.major &&
          device.minor === own.device.minor,
      )
      .map(({ mountPoint }) => mountPoint);
  }

  problemAt(place: string): string | undefined {
    const line = this.at(place);
    return line && this.deviceProblem(line);
  }
}
