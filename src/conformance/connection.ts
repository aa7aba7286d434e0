import type { CsiDefinitions } from '../csi/load';
import { type ClientRequestOf, type CsiMethod, rpcs } from '../csi/rpcs';
import { openWire } from '../csi/wire';
import { type Answer, codeOf, type ResponseTo } from './answer';

export interface SendOptions {
  readonly timeoutMs: number;
  /** Which of two endpoints; default: the one that serves the method. */
  readonly endpoint?: 'node' | 'controller';
  /** Bytes behind the message, such as fields of unknown numbers. */
  readonly extra?: Buffer;
  readonly waitForReady?: boolean;
}

/** A driver, as far as a case can reach it. */
export interface Connection {
  /** Never rejects for what the driver answers. */
  send<M extends CsiMethod>(method: M, request: ClientRequestOf<M>, options: SendOptions): Promise<Answer<M>>;
  close(): void;
}

export interface Sockets {
  /** Absolute path of the socket for the Node service, and for all others unless there is a second one. */
  readonly socket: string;
  /** Of the controller's services, where they are elsewhere. */
  readonly controllerSocket?: string;
}

interface Codec {
  requestSerialize(message: object): Buffer;
  responseDeserialize(bytes: Buffer): object;
}

/** Of services that a controller's process serves; Identity is on both. */
const CONTROLLER_SERVICES: readonly string[] = ['Controller', 'GroupController', 'SnapshotMetadata'];

export function connect({ socket, controllerSocket }: Sockets, services: CsiDefinitions): Connection {
  const node = openWire(socket);
  const controller = controllerSocket === undefined ? node : openWire(controllerSocket);
  const codecs = Object.assign({}, ...Object.values(services)) as Record<CsiMethod, Codec>;
  return {
    async send<M extends CsiMethod>(
      method: M,
      request: ClientRequestOf<M>,
      { endpoint, extra, timeoutMs, waitForReady = false }: SendOptions,
    ): Promise<Answer<M>> {
      const { service, path, serverStreaming } = rpcs[method];
      const place = endpoint ?? (CONTROLLER_SERVICES.includes(service) ? 'controller' : 'node');
      const encoded = codecs[method].requestSerialize(request);
      const bytes = extra ? Buffer.concat([encoded, extra]) : encoded;
      const came = await (place === 'node' ? node : controller).send(path, bytes, {
        timeoutMs,
        waitForReady,
      });
      const { code, message, trailers } = came;
      const messages = came.messages.map((one) => codecs[method].responseDeserialize(one));
      const response = (serverStreaming ? messages : messages[0]) as ResponseTo<M> | undefined;
      if (code === 0 && response === undefined)
        return { method, request, code: 'INTERNAL', message: 'OK without a message', trailers, response };
      return { method, request, code: codeOf(code), message, trailers, response };
    },
    close() {
      node.close();
      if (controller !== node) controller.close();
    },
  };
}
