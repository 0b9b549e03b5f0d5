import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../network.ts';

/** Each connection may buffer about 100 KB before its sender is known. */
const MAX_CONNECTIONS = 4_096;

interface Connection {
  network: string;
  /** Requests without a complete answer. The connection is idle if there are none. */
  unanswered: number;
  /** Functions that start the waiting requests, in order. */
  waiting: (() => void)[];
}

/**
 * The open connections of a server.
 *
 * | a connection is | from                     | and is closed                                             |
 * | --------------- | ------------------------ | --------------------------------------------------------- |
 * | idle            | its start, or an answer  | to make room for another network, or when closing begins  |
 * | busy            | a request's whole header | by its client, or after its answer when closing has begun |
 *
 * Node does not count a connection as idle before its first request, so its `closeIdleConnections` leaves the spare
 * connections of browsers open.
 */
export class Connections {
  readonly #most: number;
  readonly #bySocket = new Map<Socket, Connection>();
  /** The sockets of each network, the oldest first. */
  readonly #byNetwork = new Map<string, Set<Socket>>();
  #closing = false;

  constructor(server: Server, most = MAX_CONNECTIONS) {
    this.#most = most;
    server.on('connection', (socket) => this.#add(socket));
  }

  /**
   * Records a request. Requests of one connection are handled one after another, because they must be answered in order (RFC
   * 9112 §9.3.2). Other connections are served in between.
   * @returns a promise to wait for before starting, or undefined to start at once
   */
  begin(socket: Socket, response: ServerResponse): Promise<void> | undefined {
    const connection = this.#bySocket.get(socket);
    if (!connection) return undefined;
    response.once('close', () => this.#end(socket, connection));
    connection.unanswered++;
    if (connection.unanswered === 1) return undefined;
    return new Promise((start) => connection.waiting.push(start));
  }

  /** Closes idle connections now, and busy ones after their answers. */
  close(): void {
    this.#closing = true;
    for (const [socket, { unanswered }] of this.#bySocket) {
      if (unanswered === 0) socket.destroy();
    }
  }

  #add(socket: Socket): void {
    const network = networkOf(socket.remoteAddress ?? '');
    if (this.#closing || !this.#hasRoomFor(network)) {
      socket.destroy();
      return;
    }
    const ofNetwork = this.#byNetwork.get(network) ?? new Set();
    this.#byNetwork.set(network, ofNetwork.add(socket));
    this.#bySocket.set(socket, { network, unanswered: 0, waiting: [] });
    socket.once('close', () => this.#remove(socket, network));
  }

  #remove(socket: Socket, network: string): void {
    this.#bySocket.delete(socket);
    const ofNetwork = this.#byNetwork.get(network);
    ofNetwork?.delete(socket);
    if (ofNetwork?.size === 0) this.#byNetwork.delete(network);
  }

  #end(socket: Socket, connection: Connection): void {
    connection.unanswered--;
    connection.waiting.shift()?.();
    if (this.#closing && connection.unanswered === 0) socket.destroySoon();
  }

  /**
   * When all connections are in use, the network with the most of them loses one to a network with fewer. One network may
   * therefore use all connections, but cannot keep others out.
   */
  #hasRoomFor(network: string): boolean {
    if (this.#bySocket.size < this.#most) return true;
    const [largest, sockets] = [...this.#byNetwork].reduce((a, b) => (b[1].size > a[1].size ? b : a));
    if (largest === network || sockets.size <= (this.#byNetwork.get(network)?.size ?? 0) + 1) return false;
    const idle = [...sockets].find((socket) => this.#bySocket.get(socket)?.unanswered === 0);
    if (!idle) return false;
    idle.destroy();
    this.#remove(idle, largest);
    return true;
  }
}
