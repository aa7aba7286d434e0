import { deployFiles, type Manifest, manifestsOf, named, ofKind, type Rule } from '../../support/manifests';

const manifests = manifestsOf(
  ...deployFiles().filter((file) => file.startsWith('controller/') || file.startsWith('snapshots/')),
);

const READ = ['get', 'list', 'watch'];
const EVENTS = { events: ['list', 'watch', 'create', 'update', 'patch'] };

/**
 * What the documentation of each sidecar asks for, as this driver uses it: attaching, topology, snapshots, modifying, no
 * secrets, no leader election. Resources by `resource.group`.
 */
const NEEDED: Record<string, Record<string, string[]>> = {
  'fake-csi-provisioner': {
    ...EVENTS,
    persistentvolumes: [...READ, 'create', 'patch', 'delete'],
    persistentvolumeclaims: [...READ, 'update'],
    'storageclasses.storage.k8s.io': READ,
    'volumeattributesclasses.storage.k8s.io': READ,
    'csinodes.storage.k8s.io': READ,
    nodes: READ,
    'volumeattachments.storage.k8s.io': READ,
    'volumesnapshots.snapshot.storage.k8s.io': ['get', 'list'],
    'volumesnapshotcontents.snapshot.storage.k8s.io': ['get', 'list'],
  },
  'fake-csi-attacher': {
    persistentvolumes: [...READ, 'patch'],
    'csinodes.storage.k8s.io': READ,
    'volumeattachments.storage.k8s.io': [...READ, 'patch'],
    'volumeattachments/status.storage.k8s.io': ['patch'],
  },
  'fake-csi-resizer': {
    ...EVENTS,
    persistentvolumes: [...READ, 'patch'],
    persistentvolumeclaims: READ,
    'persistentvolumeclaims/status': ['patch'],
    pods: READ,
    'storageclasses.storage.k8s.io': READ,
    'volumeattributesclasses.storage.k8s.io': READ,
  },
  'fake-csi-health-monitor': {
    ...EVENTS,
    persistentvolumes: READ,
    persistentvolumeclaims: READ,
    nodes: READ,
    pods: READ,
  },
  'fake-csi-snapshotter': {
    ...EVENTS,
    'volumesnapshotclasses.snapshot.storage.k8s.io': READ,
    'volumesnapshotcontents.snapshot.storage.k8s.io': [...READ, 'update', 'patch'],
    'volumesnapshotcontents/status.snapshot.storage.k8s.io': ['update', 'patch'],
  },
};

/** Verbs by `resource.group`. */
function granted(rules: readonly Rule[]): Record<string, string[]> {
  const verbs: Record<string, string[]> = {};
  for (const rule of rules)
    for (const group of rule.apiGroups)
      for (const resource of rule.resources) {
        const key = group === '' ? resource : `${resource}.${group}`;
        verbs[key] = [...(verbs[key] ?? []), ...rule.verbs];
      }
  return verbs;
}

const roles = ofKind(manifests, 'ClusterRole').map((role) => [role.metadata.name, role] as const);

describe('the role of each sidecar', () => {
  it('is there, and no other', () => {
    expect(roles.map(([name]) => name).sort()).toEqual(Object.keys(NEEDED).sort());
  });

  it.each(roles)('%s has what it needs', (name, { rules = [] }) => {
    const verbs = granted(rules);
    for (const [resource, needed] of Object.entries(NEEDED[name] ?? {}))
      expect({ resource, verbs: verbs[resource] }).toEqual({
        resource,
        verbs: expect.arrayContaining(needed),
      });
  });

  it.each(roles)('%s has no resource that it does not need, and no wildcard', (name, { rules = [] }) => {
    expect(Object.keys(granted(rules)).sort()).toEqual(Object.keys(NEEDED[name] ?? {}).sort());
    expect(JSON.stringify(rules)).not.toContain('*');
  });

  it.each(roles)('%s is bound to the account of the controller', (name) => {
    const account = named(manifests, 'ServiceAccount', 'fake-csi-controller');
    const { roleRef, subjects } = named(manifests, 'ClusterRoleBinding', name) as Required<Manifest>;
    expect(roleRef).toEqual({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name });
    expect(subjects).toEqual([
      { kind: 'ServiceAccount', name: account.metadata.name, namespace: account.metadata.namespace },
    ]);
  });
});
