import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What a wire does to what comes over it: `slow` takes 30 ms longer for each piece; `silent` takes everything and passes
 * nothing on, as where the other end is gone and nobody said so; `answers lost` passes on what is asked, and breaks at the answer.
 */
export type Trouble = 'none' | 'slow' | 'silent' | 'answers lost';

/** A wire to a server that can be cut and mended. */
export interface Wire {
  port: number;
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** From now on, on all connections; those that were silent break when it is over. */
  trouble(kind: Trouble): void;
}

const SLOW_MS = 30;

/**
 * @param target port of the server, asked at each connection where it may change
 * @param alter changes what the server sends
 * @param alterAsked changes what it is sent
 */
export async function startWire(
  target: number | (() => number),
  alter: (sent: Buffer) => Buffer = (sent) => sent,
  alterAsked: (sent: Buffer) => Buffer = (sent) => sent,
): Promise<Wire> {
  const sockets = new Set<Socket>();
  let trouble: Trouble = 'none';

  /** One way over a connection. What is behind something slow waits as long, so that nothing overtakes it. */
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
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as { port: number };
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
