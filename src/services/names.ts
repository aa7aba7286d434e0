import { idFor } from '../util/keys';

export const volumeIdFor = (name: string) => idFor('vol', name);
export const snapshotIdFor = (name: string) => idFor('snap', name);
export const groupIdFor = (name: string) => idFor('group', name);
export const memberIdFor = (groupName: string, volumeId: string) => idFor('snap', groupName, volumeId);
