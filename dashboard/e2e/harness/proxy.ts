import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A reverse proxy on a port of its own. */
export interface ReverseProxy {
  port: number;
  close(): void;
}

/** @param targetOf the address that a request is passed to; undefined: the proxy refuses the request */
export async function startProxy(targetOf: (asked: IncomingMessage) => string | undefined): Promise<ReverseProxy> {
  const server = createServer((asked, response) => {
    const target = targetOf(asked);
    if (target === undefined) {
      response.writeHead(418).end('the proxy passes on nothing else');
      return;
    }
    const { method, headers } = asked;
    const passed = request(target, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
