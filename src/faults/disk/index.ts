import type { DiskCondition } from '../../scenarios/model';
import { errnoOf } from '../../util/files';
import { blank } from './blank';
import { corruptSuperblock } from './corrupt-superblock';
import { dirtyLog } from './dirty-log';
import { duplicateUuid } from './duplicate-uuid';
import { foreignFs } from './foreign-fs';
import { missing } from './missing';
import { NotApplied } from './not-applied';
import { readOnlyDevice } from './read-only-device';
import type { DiskTarget, PreparedDisk } from './target';
import { truncated } from './truncated';

export { recoverConditions } from './place';
export type { DiskTarget, PreparedDisk } from './target';

/**
 * Makes a disk really so; the stage that follows asks the kernel, and its answer is the kernel's. What was done is told by
 * `target.effect`, and so is why nothing was: the call then goes on as without the condition.
 * @returns undefined when it cannot come true here
 */
export async function applyCondition(
  condition: DiskCondition,
  target: DiskTarget,
): Promise<PreparedDisk | undefined> {
  try {
    if (!target.blockImage) throw new NotApplied('the backend of this volume has no disk');
    return await make(condition, target);
  } catch (error) {
    // Anything without an errno is a mistake of ours.
    if (!(error instanceof NotApplied) && errnoOf(error) === undefined) throw error;
    target.effect(`disk condition ${condition.kind} was not applied: ${(error as Error).message}`);
    return undefined;
  }
}

function make(condition: DiskCondition, target: DiskTarget): Promise<PreparedDisk> {
  switch (condition.kind) {
    case 'missing':
      return missing(target);
    case 'blank':
      return blank(target);
    case 'foreignFs':
      return foreignFs(target, condition.fsType);
    case 'corruptSuperblock':
      return corruptSuperblock(target);
    case 'dirtyLog':
      return dirtyLog(target);
    case 'duplicateUuid':
      return duplicateUuid(target);
    case 'truncated':
      return truncated(target, condition.keep);
    case 'readOnlyDevice':
      return readOnlyDevice(target);
  }
}
