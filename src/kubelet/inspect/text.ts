import * as path from 'node:path';
import { printable, table } from '../../util/text';
import type { Finding, Inspection, MountSeen } from './report';

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const mountText = (mount: MountSeen | undefined) =>
  mount === undefined
    ? 'no'
    : `${mount.fsType}${mount.readOnly ? ' ro' : ''}${mount.layers > 1 ? ` ×${mount.layers}` : ''} ${mount.source}`;

/** For people: what is there, what does not fit, and what the kubelet does about it. */
export function inspectionText(inspection: Inspection): string {
  const { root, volumes, staged, pods, findings, registrationSockets, driverFolders } = inspection;
  const short = (place: string) => path.relative(root, place) || '.';
  const parts = [
    `${printable(root)}: ${counted(pods.length, 'pod')}, ${counted(volumes.length, 'CSI volume')} of pods, ${counted(staged.length, 'stage')}; mounts of ${inspection.mountsOf}; kubelet ${inspection.kubelet}\n`,
  ];
  if (volumes.length > 0)
    parts.push(
      table(
        ['POD', 'VOLUME', 'MODE', 'DRIVER', 'HANDLE', 'MOUNTED'],
        volumes.map(({ podUid, name, mode, data, mount, subPaths }) => [
          podUid,
          name,
          data?.volumeLifecycleMode === 'Ephemeral' ? 'Inline' : mode,
          data?.driverName ?? '?',
          data?.volumeHandle ?? '?',
          `${mountText(mount)}${subPaths.length > 0 ? `, ${counted(subPaths.length, 'subPath')}` : ''}`,
        ]),
      ),
    );
  if (staged.length > 0)
    parts.push(
      table(
        ['STAGE', 'DRIVER', 'HANDLE', 'MOUNTED', 'PODS'],
        staged.map((stage) => [
          short(stage.path),
          stage.driver || '?',
          stage.volumeHandle ?? '?',
          stage.mode === 'Block' ? 'block' : mountText(stage.mount),
          stage.pods.join(' ') || 'none',
        ]),
      ),
    );
  const sockets = [
    ...registrationSockets.map((socket) => ['registration', short(socket)]),
    ...driverFolders.map(({ name, sockets: own }) => [
      `plugins/${name}`,
      own.map(short).join(' ') || 'no socket',
    ]),
  ];
  if (sockets.length > 0) parts.push(table(['DRIVERS', 'SOCKETS'], sockets));
  const outlooks = new Map<string, string[]>();
  for (const { name, podUid, afterRestart } of volumes) {
    const text = afterRestart.join('; ');
    outlooks.set(text, [...(outlooks.get(text) ?? []), `${name} of pod ${podUid}`]);
  }
  if (outlooks.size > 0)
    parts.push(
      `A kubelet that starts now:\n${[...outlooks]
        .map(
          ([text, names]) =>
            `  ${names.map(printable).join(', ')}:\n    ${text.split('; ').map(printable).join('\n    ')}\n`,
        )
        .join('')}`,
    );
  parts.push(
    findings.length === 0
      ? 'Everything fits.\n'
      : `What does not fit:\n${findings.map((finding) => findingText(finding, short(finding.path))).join('')}`,
  );
  return parts.join('\n');
}

function findingText({ severity, code, text, kubelet }: Finding, place: string): string {
  return `  ${severity} ${code}: ${printable(place)}\n    ${printable(text)}\n    the kubelet: ${printable(kubelet)}\n`;
}
