import { randomBytes } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Hands a mail on. Rejects when it could not. */
export type SendMail = (mail: Mail) => Promise<void>;

export interface OutboxOptions {
  dataDir: string;
  /** Its host is the sender's domain. */
  publicUrl: string;
  log: FastifyBaseLogger;
  now: () => number;
}

/**
 * Writes each mail as a file into `<dataDir>/outbox`, readable by the service's user alone since it may carry a link
 * that signs somebody in. The log names the file and nothing of what is in it.
 */
export function createOutbox({ dataDir, publicUrl, log, now }: OutboxOptions): SendMail {
  const folder = join(dataDir, 'outbox');
  const from = { name: 'Session Capture', address: `no-reply@${domainOf(publicUrl)}` };
  return async ({ to, subject, text }) => {
    // Loaded with the first mail: it is as much code as the rest of the service.
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const message = { from, to: { name: '', address: to }, subject, text, date: new Date(now()) };
    const { message: content } = await transport.sendMail({ ...message, textEncoding: 'quoted-printable' });
    const file = `${new Date(now()).toISOString().replaceAll(':', '-')}-${randomBytes(4).toString('hex')}.eml`;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Written aside and renamed, so that whoever watches the folder never meets half a mail.
    const draft = join(folder, `.${file}`);
    await writeFile(draft, content as Buffer, { mode: 0o600, flag: 'wx' });
    await rename(draft, join(folder, file));
    log.info({ file: join('outbox', file) }, 'a mail waits in the outbox of the data folder');
  };
}

function domainOf(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return isIP(hostname.replace(/^\[|\]$/g, '')) ? 'localhost' : hostname;
}
