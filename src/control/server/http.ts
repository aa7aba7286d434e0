import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface HttpOptions {
  /** Longest time from a connection, or from the answer before, to the whole head of a request. */
  readonly headMs: number;
  answer(request: IncomingMessage, response: ServerResponse): void;
}

const MAX_HEADER_BYTES = 16 * 1024;

/**
 * A server that drops whoever is slow to ask. Node's own limits begin to count with listen(), and connections of a Unix
 * socket are handed to this one from outside.
 */
export class HttpServer {
  readonly server: Server;
  private readonly patience = new Map<Socket, NodeJS.Timeout>();

  constructor(private readonly options: HttpOptions) {
    this.server = createServer({ maxHeaderSize: MAX_HEADER_BYTES });
    this.server.maxConnections = 256;
    this.server.on('connection', (socket: Socket) => {
      this.expect(socket);
      socket.once('close', () => this.forget(socket));
    });
    this.server.on('request', (request, response) => {
      clearTimeout(this.patience.get(request.socket));
      response.once('close', () => this.expect(request.socket));
      options.answer(request, response);
    });
  }

  private expect(socket: Socket): void {
    if (socket.destroyed) return;
    clearTimeout(this.patience.get(socket));
    this.patience.set(socket, setTimeout(() => socket.destroy(), this.options.headMs).unref());
  }

  private forget(socket: Socket): void {
    clearTimeout(this.patience.get(socket));
    this.patience.delete(socket);
  }

  /** Serves a connection that came by another way than this server's own port. */
  take(socket: Socket): void {
    this.server.emit('connection', socket);
  }

  /** Cuts every connection and listens no more. */
  close(): void {
    this.server.close();
    for (const socket of this.patience.keys()) socket.destroy();
  }
}
