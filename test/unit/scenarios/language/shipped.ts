import { readFileSync } from 'node:fs';
import { galleryFile, galleryNames } from '../../../support/gallery-files';

/** Every scenario file that is shipped: the language in use. */
export const shipped: readonly { readonly name: string; readonly text: string }[] = galleryNames().map(
  (name) => ({ name, text: readFileSync(galleryFile(name), 'utf8') }),
);
