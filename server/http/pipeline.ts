import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Resolves when the requests that came before on the connection are answered. Whoever sends hundreds in one write has
 * them served one after the other, as they are to be answered anyway (RFC 9112 §9.3.2), and others in between.
 */
export function createPipeline(): (socket: Socket, response: ServerResponse) => Promise<void> | undefined {
  const last = new WeakMap<Socket, Promise<void>>();
  return (socket, response) => {
    const before = last.get(socket);
    const answered = new Promise<void>((resolve) => void response.once('close', resolve));
    last.set(socket, answered);
    answered.then(() => {
      if (last.get(socket) === answered) last.delete(socket);
    });
    return before;
  };
}
