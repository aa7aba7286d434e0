import { Client, credentials, type deserialize, Metadata, type serialize } from '@grpc/grpc-js';
import type { PluginInfo__Output } from '../../src/csi/gen/pluginregistration/PluginInfo';
import { loadRegistration } from '../../src/csi/load';

/** What a kubelet says on a registration socket. */
export class RegistrationClient {
  private readonly client: Client;
  private readonly definition = loadRegistration();

  /** @param authority before 1.58, grpc-go sent the path of the socket. */
  constructor(file: string, authority = 'localhost') {
    this.client = new Client(`unix:${file}`, credentials.createInsecure(), {
      'grpc.default_authority': authority,
      // One kubelet dials again and again: each time anew.
      'grpc.use_local_subchannel_pool': 1,
    });
  }

  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.client.waitForReady(Number.POSITIVE_INFINITY, (error) => (error ? reject(error) : resolve()));
    });
  }

  getInfo(signal: AbortSignal): Promise<PluginInfo__Output> {
    return this.call('GetInfo', {}, signal) as Promise<PluginInfo__Output>;
  }

  async notify(plugin_registered: boolean, error: string, signal: AbortSignal): Promise<void> {
    await this.call('NotifyRegistrationStatus', { plugin_registered, error }, signal);
  }

  close(): void {
    this.client.close();
  }

  call(method: 'GetInfo' | 'NotifyRegistrationStatus', request: object, signal: AbortSignal) {
    const { path: name, requestSerialize, responseDeserialize } = this.definition[method];
    return new Promise<object>((resolve, reject) => {
      const call = this.client.makeUnaryRequest(
        name,
        requestSerialize as serialize<object>,
        responseDeserialize as deserialize<object>,
        request,
        new Metadata(),
        {},
        (error, response) =>
          error ? reject(new Error(`${method}: ${error.details}`)) : resolve(response ?? {}),
      );
      signal.addEventListener('abort', () => call.cancel(), { once: true });
    });
  }
}
