import { CLAIM, eventsOf, ONE_POD, type Played, play, pod, STORAGE_CLASS } from './harness';

/** What `kubectl describe pvc` shows of a claim that no volume is there for (pv_controller.go). */
const told = ({ events }: Played) =>
  events
    .filter(({ object }) => object.startsWith('PersistentVolumeClaim'))
    .map(({ type, reason, source, message }) => `${type} ${reason} ${source}: ${message}`);

const SOURCE = 'persistentvolume-controller';

test('with a pod: asked of the provisioner, which begins only then', async () => {
  const played = await play(ONE_POD, 'create; wait running');
  expect(told(played)).toEqual([
    `Normal WaitForPodScheduled ${SOURCE}: waiting for pod web to be scheduled`,
    `Normal ExternalProvisioning ${SOURCE}: Waiting for a volume to be created either by the external provisioner 'fake.csi.test' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
    'Normal Provisioning external-provisioner: External provisioner is provisioning volume for claim "default/data"',
    expect.stringMatching(/^Normal ProvisioningSucceeded external-provisioner: Successfully provisioned/),
  ]);
});

test('without one, where its class waits for a consumer: said, and nothing is made', async () => {
  const played = await play(`${STORAGE_CLASS}${CLAIM}`, 'create; advance 5m');
  expect(told(played)).toEqual([
    `Normal WaitForFirstConsumer ${SOURCE}: waiting for first consumer to be created before binding`,
  ]);
});

test('a provisioner that is not there: the event says what to look at', async () => {
  const elsewhere = STORAGE_CLASS.replace('provisioner: fake.csi.test', 'provisioner: other.csi.test');
  const played = await play(`${elsewhere}${CLAIM}${pod('web')}`, 'create; advance 5m; assert not running');
  expect(played.outcome.failure).toBeUndefined();
  expect(eventsOf(played, 'ExternalProvisioning').map(({ message }) => message)).toEqual([
    expect.stringContaining("by the external provisioner 'other.csi.test'"),
  ]);
  expect(eventsOf(played, 'Provisioning')).toEqual([]);
});

test.each([
  [
    'a class that is not there',
    'fake',
    'Warning ProvisioningFailed',
    'storageclass.storage.k8s.io "fake" not found',
  ],
  [
    'no class',
    '""',
    'Normal FailedBinding',
    'no persistent volumes available for this claim and no storage class is set',
  ],
])('%s', async (_, name, reason, message) => {
  const claim = CLAIM.replace('storageClassName: fake', `storageClassName: ${name}`);
  const played = await play(`${claim}${pod('web')}`, 'create; advance 5m; assert not running');
  expect(played.outcome.failure).toBeUndefined();
  expect(told(played)).toEqual([`${reason} ${SOURCE}: ${message}`]);
});
