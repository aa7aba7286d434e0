import { resourceExhausted } from '../csi/status';

/** The bytes promised to volumes and snapshots, against what the driver was told it has (`--capacity`). */
export class Pool {
  private promised = 0n;

  constructor(
    /** undefined: unlimited. Disks are sparse, so promises may exceed what the host has. */
    readonly capacity: bigint | undefined,
  ) {}

  /** For RecordStore.onChange. */
  adjust(before: string | undefined, after: string | undefined): void {
    this.promised += BigInt(after ?? 0) - BigInt(before ?? 0);
  }

  get free(): bigint | undefined {
    if (this.capacity === undefined) return undefined;
    return this.promised < this.capacity ? this.capacity - this.promised : 0n;
  }

  /**
   * Sets `bytes` aside while something is made, so that two calls cannot promise the same bytes.
   * @returns the function that ends the reservation: by then the record counts, or nothing was made.
   * @throws CsiError RESOURCE_EXHAUSTED
   */
  reserve(bytes: bigint): () => void {
    const free = this.free;
    if (free !== undefined && bytes > free)
      throw resourceExhausted(
        `the pool has ${free} of ${this.capacity} bytes free, ${bytes} are needed; delete something or raise --capacity`,
      );
    this.promised += bytes;
    let reserved = true;
    return () => {
      if (reserved) this.promised -= bytes;
      reserved = false;
    };
  }
}
