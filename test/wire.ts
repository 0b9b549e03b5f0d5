import { randomInt } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Trouble on a wire: `slow` delays each piece by 30 ms; `silent` accepts bytes and forwards none, like a connection to a machine
 * that is gone; `answers lost` forwards requests, and breaks the connection at the answer.
 */
export type Trouble = 'none' | 'slow' | 'silent' | 'answers lost';

/** A wire to a server; tests can cut it and mend it. */
export interface Wire {
  port: number;
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Sets the trouble on all connections. Connections that were silent break when the trouble ends. */
  trouble(kind: Trouble): void;
}

const SLOW_MS = 30;

/** Systems choose ports from 32768 on for connections, and for servers that leave the choice to them. */
const CHOSEN = { from: 20_000, to: 32_000 };

/** Listens on a port that nobody else gets by chance while the wire is cut. */
async function listenBelowRandom(listen: (port: number) => Promise<void>): Promise<number> {
  for (let tries = 0; ; tries++) {
    const port = randomInt(CHOSEN.from, CHOSEN.to);
    const taken = await listen(port).then(
      () => undefined,
      (error: Error) => error,
    );
    if (taken === undefined) return port;
    if (tries === 20) throw taken;
  }
}

/**
 * Starts a wire to a server.
 * @param target the server's port; a function is called at each connection, because the port may change
 * @param alter changes the bytes from the server
 * @param alterAsked changes the bytes to the server
 */
export async function startWire(
  target: number | (() => number),
  alter: (sent: Buffer) => Buffer = (sent) => sent,
  alterAsked: (sent: Buffer) => Buffer = (sent) => sent,
): Promise<Wire> {
  const sockets = new Set<Socket>();
  let trouble: Trouble = 'none';

  /** One direction of a connection. Bytes behind delayed bytes are delayed as well, so that nothing overtakes them. */
  function createWay(to: Socket): (bytes: Buffer) => void {
    let waiting = 0;
    const write = (bytes: Buffer) => void (to.writable && to.write(bytes));
    return (bytes) => {
      if (trouble === 'silent') return;
      if (trouble !== 'slow' && waiting === 0) return write(bytes);
      waiting++;
      setTimeout(() => {
        waiting--;
        write(bytes);
      }, SLOW_MS);
    };
  }

  const server: Server = createServer((socket) => {
    const far = connect(typeof target === 'number' ? target : target(), '127.0.0.1');
    const [there, back] = [createWay(far), createWay(socket)];
    socket.on('data', (asked: Buffer) => there(alterAsked(asked)));
    far.on('data', (sent: Buffer) => {
      if (trouble === 'answers lost') socket.destroy();
      else back(alter(sent));
    });
    for (const [end, other] of [
      [socket, far],
      [far, socket],
    ] as const) {
      sockets.add(end);
      end.on('error', () => other.destroy());
      end.on('end', () => other.end());
      end.on('close', () => {
        sockets.delete(end);
        other.destroy();
      });
    }
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const port = await listenBelowRandom(listen);
  return {
    port,
    async cut() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend: () => listen(port),
    trouble(kind) {
      if (trouble === 'silent') for (const socket of sockets) socket.destroy();
      trouble = kind;
    },
  };
}
