import { CSI_TIMEOUT_MS } from '../constants';
import type { CsiCalls } from '../csi/calls';
import type { NodeInfoManager } from './node-info-manager';
import { highestSupportedVersion, isLess, type Version } from './supported-version';

interface RegisteredDriver {
  /** Where its CSI socket is, as it said itself. */
  readonly endpoint: string;
  readonly version: Version;
}

export interface CsiPluginOptions {
  readonly calls: CsiCalls;
  readonly nodeInfo: NodeInfoManager;
  readonly signal: AbortSignal;
  registered(driver: string): void;
}

const PREFIX = 'kubernetes.io/csi: ';

/** The drivers that a kubelet knows, by name (pkg/volume/csi/csi_plugin.go). Nothing can be done with the volumes of another. */
export class CsiPlugin {
  private readonly drivers = new Map<string, RegisteredDriver>();

  constructor(private readonly options: CsiPluginOptions) {}

  isRegistered(driver: string): boolean {
    return this.drivers.has(driver);
  }

  endpointOf(driver: string): string | undefined {
    return this.drivers.get(driver)?.endpoint;
  }

  /** @throws Error in the kubelet's words */
  validatePlugin(name: string, endpoint: string, versions: readonly string[]): void {
    try {
      this.validateVersions('ValidatePlugin', name, versions);
    } catch (error) {
      throw new Error(
        `validation failed for CSI Driver ${name} at endpoint ${endpoint}: ${(error as Error).message}`,
      );
    }
  }

  /** The driver is known first, and forgotten again when the rest fails. @throws CsiError of NodeGetInfo; Error */
  async registerPlugin(name: string, endpoint: string, versions: readonly string[]): Promise<void> {
    const { calls, nodeInfo, signal, registered } = this.options;
    const version = this.validateVersions('RegisterPlugin', name, versions);
    this.drivers.set(name, { endpoint, version });
    try {
      nodeInfo.install(
        name,
        await calls.call('NodeGetInfo', {}, calls.context(CSI_TIMEOUT_MS, undefined, name)),
      );
    } catch (error) {
      signal.throwIfAborted();
      this.deregisterPlugin(name);
      throw error;
    }
    registered(name);
  }

  /** By its name alone, whichever socket named it. What is mounted stays so. */
  deregisterPlugin(name: string): void {
    this.drivers.delete(name);
    this.options.nodeInfo.uninstall(name);
  }

  private validateVersions(caller: string, name: string, versions: readonly string[]): Version {
    const failed = (why: string) => new Error(`${PREFIX}${caller} for CSI driver "${name}" failed. ${why}`);
    if (versions.length === 0) throw failed('Plugin returned an empty list for supported versions');
    let version: Version;
    try {
      version = highestSupportedVersion(versions);
    } catch (error) {
      const listed = versions.map((text) => JSON.stringify(text)).join(' ');
      throw failed(
        `None of the versions specified [${listed}] are supported. err=${(error as Error).message}`,
      );
    }
    const known = this.drivers.get(name);
    if (known && !isLess(known.version, version))
      throw failed(
        `Another driver with the same name is already registered with a higher supported version: "${known.version.join('.')}"`,
      );
    return version;
  }
}
