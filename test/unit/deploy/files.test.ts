import * as fs from 'node:fs';
import * as path from 'node:path';
import { parse } from 'yaml';
import {
  readAttributes,
  readMutableParameters,
  readVolumeParameters,
} from '../../../src/services/parameters';
import { galleryNames } from '../../support/gallery-files';
import {
  type ClaimSpec,
  DEPLOY,
  deployFiles,
  type Manifest,
  manifestsOf,
  ofKind,
  podOf,
  ROOT,
} from '../../support/manifests';

const DRIVER = 'fake.csi.test';
const examples = deployFiles().filter((file) => file.startsWith('examples/'));
const controller = manifestsOf(...deployFiles().filter((file) => file.startsWith('controller/')));
const storageClasses = ofKind(controller, 'StorageClass');
const attributesClasses = ofKind(controller, 'VolumeAttributesClass');
const snapshotClasses = ofKind(manifestsOf('snapshots/volumesnapshotclass.yaml'), 'VolumeSnapshotClass');
const nameOf = ({ metadata }: Manifest) => metadata.name;

describe('every file of deploy/', () => {
  it.each(deployFiles())('%s is YAML, and names what it is', (file) => {
    for (const { apiVersion, kind } of manifestsOf(file))
      expect([typeof apiVersion, typeof kind]).toEqual(['string', 'string']);
  });

  it.each(deployFiles().filter((file) => !file.startsWith('versions/')))(
    '%s names no version of an image',
    (file) => {
      const images = fs
        .readFileSync(path.join(DEPLOY, file), 'utf8')
        .split('\n')
        .flatMap((line) => /^\s*(?:- )?image: (\S+)$/.exec(line)?.slice(1) ?? []);
      const expected = file.startsWith('examples/')
        ? /^busybox:1\.36$/
        : /^(fake-csi|registry\.k8s\.io\/sig-storage\/[a-z-]+)$/;
      for (const image of images) expect(image).toMatch(expected);
    },
  );
});

describe('the ConfigMap of the scenarios', () => {
  it('has every scenario; `node scripts/generate-gallery.cjs` writes the list anew', () => {
    const text = fs.readFileSync(path.join(ROOT, 'scenarios/Kustomization'), 'utf8');
    const { configMapGenerator } = parse(text) as { configMapGenerator: { files: string[] }[] };
    expect(configMapGenerator[0]?.files).toEqual(
      galleryNames()
        .sort()
        .map((name) => `${name}.yaml`),
    );
  });

  it('fits into the annotation in which kubectl apply keeps what it applied', () => {
    const texts = galleryNames().map((name) =>
      fs.readFileSync(path.join(ROOT, 'scenarios', `${name}.yaml`), 'utf8'),
    );
    expect(JSON.stringify(texts).length).toBeLessThan(240 * 1024);
  });
});

describe('the classes', () => {
  it('are those that the documents speak of', () => {
    expect(storageClasses.map(nameOf)).toEqual(
      expect.arrayContaining(
        [
          '',
          '-xfs',
          '-btrfs',
          '-block',
          '-tmpfs',
          '-wffc',
          '-no-expand',
          '-slow-attach',
          '-wrong-fstype',
        ].map((end) => `fake-csi${end}`),
      ),
    );
  });

  it.each(storageClasses.map((one) => [nameOf(one), one] as const))(
    '%s is one that the driver takes',
    (name, one) => {
      expect(one.provisioner).toBe(DRIVER);
      const { own } = readVolumeParameters(one.parameters ?? {}, {});
      expect(own.storageClass).toBe(name);
      if (own.scenario !== undefined) {
        expect(galleryNames()).toContain(own.scenario);
        expect(name).toBe(`fake-csi-${own.scenario}`);
      }
    },
  );

  it('of a backend that has one filesystem name it: the provisioner fills in ext4 for those that name none', () => {
    const fstypes = storageClasses
      .filter(({ parameters }) => parameters?.backend === 'tmpfs')
      .map(({ parameters }) => parameters?.['csi.storage.k8s.io/fstype']);
    expect(fstypes).toEqual(['tmpfs']);
  });

  it('that fail are all in docs/kubernetes.md', () => {
    const text = fs.readFileSync(path.join(ROOT, 'docs/kubernetes.md'), 'utf8');
    const row = /^\| `fake-csi-SCENARIO` \| fails: (.*) \|$/m.exec(text)?.[1];
    const failing = storageClasses.flatMap(({ parameters }) => parameters?.scenario ?? []);
    expect(row?.split(', ')).toEqual(failing.sort());
  });

  it('differ in when they bind and whether they grow', () => {
    const by = (key: 'volumeBindingMode' | 'allowVolumeExpansion', value: unknown) =>
      storageClasses.filter((one) => one[key] !== value).map(nameOf);
    expect(by('volumeBindingMode', 'Immediate')).toEqual(['fake-csi-wffc']);
    expect(by('allowVolumeExpansion', true)).toEqual(['fake-csi-no-expand']);
  });

  it('are never the default', () => {
    const annotated = [...storageClasses, ...attributesClasses, ...snapshotClasses].filter(({ metadata }) =>
      Object.keys(metadata.annotations ?? {}).some((key) => key.includes('is-default')),
    );
    expect(annotated).toEqual([]);
  });

  it.each(attributesClasses.map((one) => [nameOf(one), one] as const))(
    '%s changes what can be changed',
    (_name, one) => {
      expect(one.driverName).toBe(DRIVER);
      expect(readMutableParameters(one.parameters ?? {})).toEqual(one.parameters);
    },
  );

  it('of snapshots are of this driver', () => {
    expect(snapshotClasses.map(({ driver }) => driver)).toEqual([DRIVER]);
  });
});

describe('the examples', () => {
  const names = new Set<string>();

  /** What it refers to must be in its own file, or in ext4.yaml, which its comment then says. */
  function claimsKnownTo(manifests: readonly Manifest[]): string[] {
    return ofKind(manifests, 'PersistentVolumeClaim').map(nameOf);
  }

  function checkClaim(spec: ClaimSpec, manifests: readonly Manifest[]): void {
    if (spec.storageClassName === '') {
      expect(ofKind(manifests, 'PersistentVolume').map(nameOf)).toContain(spec.volumeName);
    } else expect(storageClasses.map(nameOf)).toContain(spec.storageClassName);
    if (spec.volumeAttributesClassName !== undefined)
      expect(attributesClasses.map(nameOf)).toContain(spec.volumeAttributesClassName);
    if (spec.dataSource?.kind === 'VolumeSnapshot')
      expect(ofKind(manifests, 'VolumeSnapshot').map(nameOf)).toContain(spec.dataSource.name);
    if (spec.dataSource?.kind === 'PersistentVolumeClaim') expect(spec.dataSource.name).toBe('ext4');
  }

  it.each(examples)('%s refers to what there is', (file) => {
    const manifests = manifestsOf(file);
    const pods = manifests.flatMap((one) => podOf(one) ?? []);
    expect(pods.length).toBeGreaterThan(0);
    for (const claim of ofKind(manifests, 'PersistentVolumeClaim'))
      checkClaim(claim.spec as ClaimSpec, manifests);
    for (const { volumes = [] } of pods)
      for (const { persistentVolumeClaim: claim, ephemeral, csi } of volumes) {
        if (claim) expect(claimsKnownTo(manifests)).toContain(claim.claimName);
        if (ephemeral) checkClaim(ephemeral.volumeClaimTemplate.spec, manifests);
        if (csi) {
          expect(csi.driver).toBe(DRIVER);
          expect(readAttributes(csi.volumeAttributes)).toEqual(csi.volumeAttributes);
          if (csi.volumeAttributes.scenario !== undefined)
            expect(galleryNames()).toContain(csi.volumeAttributes.scenario);
        }
      }
  });

  it.each(examples)('%s can be applied beside all others, and says what it shows', (file) => {
    expect(fs.readFileSync(path.join(DEPLOY, file), 'utf8')).toMatch(/^# /);
    for (const { kind, metadata } of manifestsOf(file)) {
      expect(names).not.toContain(`${kind}/${metadata.name}`);
      names.add(`${kind}/${metadata.name}`);
    }
  });

  it('have a pod for each class', () => {
    const used = examples.flatMap((file) => {
      const manifests = manifestsOf(file);
      const templates = manifests.flatMap((one) =>
        (podOf(one)?.volumes ?? []).flatMap(({ ephemeral }) => ephemeral?.volumeClaimTemplate.spec ?? []),
      );
      const claims = ofKind(manifests, 'PersistentVolumeClaim').map(({ spec }) => spec as ClaimSpec);
      return [...claims, ...templates].map(({ storageClassName }) => storageClassName);
    });
    const unused = storageClasses.map(nameOf).filter((name) => !used.includes(name));
    // One more volume that cannot grow shows nothing.
    expect(unused).toEqual(['fake-csi-no-expand']);
  });
});
