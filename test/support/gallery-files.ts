import * as fs from 'node:fs';
import * as path from 'node:path';

export const GALLERY = path.join(__dirname, '../../scenarios');

/** Names of the shipped scenarios. */
export function galleryNames(): string[] {
  return fs.readdirSync(GALLERY).flatMap((file) => (file.endsWith('.yaml') ? [file.slice(0, -5)] : []));
}

export const galleryFile = (name: string): string => path.join(GALLERY, `${name}.yaml`);
