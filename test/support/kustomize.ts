import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import { type Manifest, manifestsIn, ROOT } from './manifests';

const { Children } = require('../../scripts/lib/process.cjs') as { Children: new () => object };
const { buildKustomize, kustomizeProblem } = require('../../scripts/lib/kustomize.cjs') as {
  buildKustomize(children: object, root: string): Promise<string>;
  kustomizeProblem(root: string): string | null;
};

export const OVERLAYS = ['node-only', 'full'] as const;
export type Overlay = (typeof OVERLAYS)[number];

const problem = kustomizeProblem(ROOT);

/** `describe`, or, where kustomize cannot be built here, `describe.skip` with the reason in the name. */
export function describeKustomize(name: string, body: () => void): void {
  if (problem === null) describe(name, body);
  else describe.skip(`${name} (${problem})`, body);
}

/** What the pinned kustomize makes of a folder of the checkout. The first run on a machine compiles it: minutes. */
export async function kustomizeBuild(folder: string): Promise<Manifest[]> {
  const kustomize = await buildKustomize(new Children(), ROOT);
  const options = { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 } as const;
  return manifestsIn(execFileSync(kustomize, ['build', path.join(ROOT, folder)], options), folder);
}

export const overlayFolder = (overlay: Overlay): string => `deploy/overlays/${overlay}`;
