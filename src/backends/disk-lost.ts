import { Code, CsiError } from '../csi/status';
import type { StageOrder } from './backend';

/** The bytes of a volume are not all there: an empty volume in place of a lost one would be a lie. */
export function lost({ volume, at }: StageOrder, what: string): CsiError {
  return new CsiError(
    Code.DATA_LOSS,
    `the disk of volume ${volume.id}, ${at.disk}, ${what}; restore it, or delete the volume`,
  );
}
