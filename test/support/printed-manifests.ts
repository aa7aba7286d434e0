import { runCli } from './cli';
import { type Manifest, manifestsIn } from './manifests';

export const keyOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

/** What `fake-csi manifest` prints. */
export async function printed(...words: string[]): Promise<Manifest[]> {
  const { code, out, err } = await runCli(['manifest', ...words]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return manifestsIn(out, 'manifest');
}
