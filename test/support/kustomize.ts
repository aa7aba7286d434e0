import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import { type Manifest, manifestsIn, ROOT } from './manifests';

const { Children } = require('../../scripts/lib/process.cjs') as { Children: new () => object };
const { buildKustomize } = require('../../scripts/lib/kustomize.cjs') as {
  buildKustomize(children: object, root: string): Promise<string>;
};

export const OVERLAYS = ['node-only', 'full'] as const;
export type Overlay = (typeof OVERLAYS)[number];

/** What the pinned kustomize makes of a folder of the checkout. The first run on a machine compiles it: minutes. */
export async function kustomizeBuild(folder: string): Promise<Manifest[]> {
  const kustomize = await buildKustomize(new Children(), ROOT);
  const options = { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 } as const;
  return manifestsIn(execFileSync(kustomize, ['build', path.join(ROOT, folder)], options), folder);
}

export const overlayFolder = (overlay: Overlay): string => `deploy/overlays/${overlay}`;
