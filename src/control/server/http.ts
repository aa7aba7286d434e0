import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface HttpOptions {
  /** Longest time from a connection, or from the answer before, to the whole head of a request. */
  readonly headMs: number;
  answer(request: IncomingMessage, response: ServerResponse): void;
}

interface Client {
  /** Requests that are being answered. */
  running: number;
  patience: NodeJS.Timeout | undefined;
}

const MAX_CONNECTIONS = 256;
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * A server that drops whoever is slow to ask. Node's own limits begin to count with listen(), and connections of a Unix
 * socket are handed to this one from outside.
 */
export class HttpServer {
  readonly server: Server;
  private readonly clients = new Map<Socket, Client>();

  constructor(private readonly options: HttpOptions) {
    this.server = createServer({ maxHeaderSize: MAX_HEADER_BYTES });
    this.server.maxConnections = MAX_CONNECTIONS;
    this.server.on('connection', (socket: Socket) => {
      const client: Client = { running: 0, patience: undefined };
      this.clients.set(socket, client);
      this.expect(socket, client);
      socket.once('close', () => {
        clearTimeout(client.patience);
        this.clients.delete(socket);
      });
    });
    this.server.on('request', (request, response) => {
      const client = this.clients.get(request.socket);
      if (client) this.follow(request.socket, client, response);
      options.answer(request, response);
    });
  }

  /** A client may ask on before it has its answer: it is slow only when it has nothing to wait for itself. */
  private follow(socket: Socket, client: Client, response: ServerResponse): void {
    clearTimeout(client.patience);
    client.running += 1;
    response.once('close', () => {
      client.running -= 1;
      if (client.running === 0) this.expect(socket, client);
    });
  }

  private expect(socket: Socket, client: Client): void {
    if (socket.destroyed) return;
    clearTimeout(client.patience);
    client.patience = setTimeout(() => socket.destroy(), this.options.headMs).unref();
  }

  /** Serves a connection that came by another way than this server's own port. */
  take(socket: Socket): void {
    this.server.emit('connection', socket);
  }

  /** Cuts every connection and listens no more. */
  close(): void {
    this.server.close();
    for (const socket of this.clients.keys()) socket.destroy();
  }
}
