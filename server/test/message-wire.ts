import { connect, createServer, type Socket } from 'node:net';

/** A wire to a PostgreSQL that knows where its messages end. */
export interface MessageWire {
  port: number;
  /**
   * Lets so many messages through, of both directions and all connections, then cuts every connection.
   * @param torn half of the next message is let through as well
   */
  cutAfter(messages: number, torn: boolean): void;
  /** Cuts nothing from here on; tells whether it had come to a cut. */
  wasCut(): boolean;
  close(): Promise<void>;
}

export async function startMessageWire(targetPort: number): Promise<MessageWire> {
  const sockets = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  let isTorn = false;
  let cut = false;

  /** Hands on whole messages, each counted. */
  function forward(from: Socket, to: Socket, beginsUntyped: boolean): void {
    const take = createReader(beginsUntyped);
    from.on('data', (bytes: Buffer) => {
      for (const message of take(bytes)) {
        if (left-- > 0) {
          to.write(message);
          continue;
        }
        cut = true;
        const half = isTorn ? message.subarray(0, message.length >> 1) : Buffer.alloc(0);
        // What was written is on its way before the end is.
        to.end(half);
        for (const socket of sockets) if (socket !== to) socket.destroy();
        return;
      }
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroySoon();
    });
  }

  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    for (const socket of [client, target]) sockets.add(socket.setNoDelay(true));
    forward(client, target, true);
    forward(target, client, false);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    cutAfter(messages, torn) {
      [left, isTorn, cut] = [messages, torn, false];
    },
    wasCut() {
      left = Number.POSITIVE_INFINITY;
      return cut;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A message is a type of one byte, its length in four, and what it says; the first of a client has no type. */
function createReader(beginsUntyped: boolean): (bytes: Buffer) => Buffer[] {
  let waiting: Buffer = Buffer.alloc(0);
  let lengthAt = beginsUntyped ? 0 : 1;
  return (bytes) => {
    waiting = Buffer.concat([waiting, bytes]);
    const messages: Buffer[] = [];
    while (waiting.length >= lengthAt + 4) {
      const end = lengthAt + waiting.readInt32BE(lengthAt);
      if (waiting.length < end) break;
      messages.push(waiting.subarray(0, end));
      waiting = waiting.subarray(end);
      lengthAt = 1;
    }
    return messages;
  };
}
