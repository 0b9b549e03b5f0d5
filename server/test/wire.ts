import { connect, createServer, type Server, type Socket } from 'node:net';

/** A wire to a server that can be cut and mended. */
export interface Wire {
  port: number;
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Lets nothing through from here on, and says so to nobody. */
  silence(): void;
}

/** @param alter changes what the server sends */
export async function startWire(targetPort: number, alter: (sent: Buffer) => Buffer = (sent) => sent): Promise<Wire> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server: Server = createServer((socket) => {
    const target = connect(targetPort, '127.0.0.1');
    socket.on('data', (sent: Buffer) => void (isSilent || target.write(sent)));
    target.on('data', (sent: Buffer) => void (isSilent || socket.write(alter(sent))));
    for (const [end, other] of [
      [socket, target],
      [target, socket],
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
    async mend() {
      isSilent = false;
      if (!server.listening) await listen(port);
    },
    silence() {
      isSilent = true;
    },
  };
}
