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

/** Sends a mail, or rejects. */
export type SendMail = (mail: Mail) => Promise<void>;

export interface OutboxOptions {
  dataDir: string;
  /** The sender's address. */
  from: string;
  log: FastifyBaseLogger;
  now: () => number;
}

/**
 * Writes each mail as a file into `<dataDir>/outbox`. Only the service's user may read it, because its link may sign
 * somebody in. The log names the file and none of its content.
 */
export function createOutbox({ dataDir, from, log, now }: OutboxOptions): SendMail {
  const folder = join(dataDir, 'outbox');
  return async (mail) => {
    const { createTransport } = await nodemailer();
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const { message: content } = await transport.sendMail(toMessage(from, mail, now));
    const file = `${new Date(now()).toISOString().replaceAll(':', '-')}-${randomBytes(4).toString('hex')}.eml`;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Renamed once it is complete, so that a program that watches the folder never reads half a mail.
    const draft = join(folder, `.${file}`);
    await writeFile(draft, content as Buffer, { mode: 0o600, flag: 'wx' });
    await rename(draft, join(folder, file));
    log.info({ file: join('outbox', file) }, 'a mail waits in the outbox of the data folder');
  };
}

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user, password and nodemailer's options as they are needed. */
  url: string;
  /** The sender's address. */
  from: string;
  now: () => number;
  /** Limit for one mail as a whole: somebody waits for the answer. */
  timeoutMs?: number;
}

const SMTP_TIMEOUT_MS = 10_000;

/** Sends each mail through a mail server. Encrypts where the server can, and sends a password only encrypted. */
export function createSmtp({ url, from, now, timeoutMs = SMTP_TIMEOUT_MS }: SmtpOptions): SendMail {
  const { username, searchParams } = new URL(url);
  const times = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const requireTLS = username !== '' && !searchParams.has('requireTLS') ? { requireTLS: true } : {};
  return async (mail) => {
    const { createTransport } = await nodemailer();
    const transport = createTransport({ url, ...times, ...requireTLS });
    await transport.sendMail({ ...toMessage(from, mail, now), signal: AbortSignal.timeout(timeoutMs) });
  };
}

/** Loaded with the first mail: it has as much code as the rest of the service. */
const nodemailer = () => import('nodemailer');

const toMessage = (from: string, { to, subject, text }: Mail, now: () => number) =>
  ({
    from: { name: 'Session Capture', address: from },
    to: { name: '', address: to },
    subject,
    text,
    date: new Date(now()),
    textEncoding: 'quoted-printable',
  }) as const;

/** The sender where none is configured: `no-reply@` and the host of the service. */
export function senderOf(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return `no-reply@${isIP(hostname.replace(/^\[|\]$/g, '')) ? 'localhost' : hostname}`;
}
