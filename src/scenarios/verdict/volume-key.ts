import type { JournalCall } from '../../journal/calls';

/** What calls about one volume have in common from their arrival on; a CreateVolume has no more than a name then. */
export function volumeKey({ method, volumeId, request }: JournalCall): string {
  if (method === 'CreateVolume') return `name ${(request as { name?: string }).name ?? ''}`;
  return volumeId === undefined ? '' : `id ${volumeId}`;
}
