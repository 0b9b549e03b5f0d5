import { createServer } from 'node:net';
import type { Config } from './config.ts';

/** Finds a free port for `PORT=0`, because the address must be known before the service listens. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/** The configured address of the service, or its address on this machine. */
export function publicUrlOf({ PUBLIC_URL, HOST }: Pick<Config, 'PUBLIC_URL' | 'HOST'>, port: number): string {
  const host = ANY_ADDRESS.has(HOST) ? 'localhost' : HOST;
  return PUBLIC_URL ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The path below which browsers and machines reach the service, without a slash at the end; empty if there is none. */
export const basePathOf = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/$/, '');
