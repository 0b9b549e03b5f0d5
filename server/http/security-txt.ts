import type { FastifyInstance } from 'fastify';
import { Problem } from '../../contract/problem.ts';

export interface SecurityTxtOptions {
  /** The address for reports of weaknesses; undefined: there is none. */
  contact: string | undefined;
  publicUrl: string;
  now: () => number;
}

/** Under a year, as RFC 9116 (2.5.5) recommends. */
const VALID_MS = 180 * 24 * 3_600_000;

/** Says where to report a weakness of this service (RFC 9116). */
export function serveSecurityTxt(app: FastifyInstance, { contact, publicUrl, now }: SecurityTxtOptions): void {
  const path = '/.well-known/security.txt';
  app.get(path, async (_request, reply) => {
    if (contact === undefined) throw new Problem('not_found', 'There is no security contact. Ask the operator.');
    const expires = new Date(now() + VALID_MS).toISOString();
    const lines = [`Contact: ${contact}`, `Expires: ${expires}`, `Canonical: ${publicUrl}${path}`];
    return reply.type('text/plain; charset=utf-8').send(`${lines.join('\n')}\n`);
  });
}
