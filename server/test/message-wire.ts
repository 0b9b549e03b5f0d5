import { connect, createServer, type Socket } from 'node:net';

/** A wire to PostgreSQL that recognizes message boundaries. */
export interface MessageWire {
  port: number;
  /**
   * Lets this many messages through, counted over both directions and all connections, then cuts every connection.
   * @param torn also lets half of the next message through
   */
  cutAfter(messages: number, torn: boolean): void;
  /** Stops cutting; returns whether a cut has happened. */
  wasCut(): boolean;
  close(): Promise<void>;
}

export async function startMessageWire(targetPort: number): Promise<MessageWire> {
  const sockets = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  let isTorn = false;
  let cut = false;

  /** Forwards whole messages and counts each. */
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
        // `end` sends the bytes that were written before it closes the connection.
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

/** A message has a type of one byte, a length of four bytes, and its content; a client's first message has no type. */
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
