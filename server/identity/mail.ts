import { randomBytes } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { InviteMail } from './identity.ts';

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
 * Writes each mail as a file into `<dataDir>/outbox`. Only the service's user may read it, because its link may sign a person
 * in. The log names the file and none of its content.
 */
export function createOutbox({ dataDir, from, log, now }: OutboxOptions): SendMail {
  const folder = join(dataDir, 'outbox');
  return async (mail) => {
    const { createTransport } = await nodemailer();
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const { message: content } = await transport.sendMail(toMessage(from, mail, now));
    const file = `${new Date(now()).toISOString().replaceAll(':', '-')}-${randomBytes(4).toString('hex')}.eml`;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // The file is renamed once it is complete, so that a program that watches the folder never reads half a mail.
    const draft = join(folder, `.${file}`);
    await writeFile(draft, content as Buffer, { mode: 0o600, flag: 'wx' });
    await rename(draft, join(folder, file));
    // A warning, because nobody gets the mail until somebody delivers it.
    log.warn({ file: join('outbox', file) }, 'a mail waits in the outbox of the data folder');
  };
}

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user, password and options of nodemailer if needed. */
  url: string;
  /** The sender's address. */
  from: string;
  now: () => number;
  /** Limit for one mail, because a person waits for the answer. */
  timeoutMs?: number;
}

const SMTP_TIMEOUT_MS = 10_000;

/**
 * Sends each mail through a mail server. Encrypts the connection if the server can, and sends a password only over an encrypted
 * one.
 */
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

/** Loaded with the first mail, because it has as much code as the rest of the service. */
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

/** The sender if none is configured: `no-reply@` and the host of the service. */
export function senderOf(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return `no-reply@${isIP(hostname.replace(/^\[|\]$/g, '')) ? 'localhost' : hostname}`;
}

/** Anybody may name an organization, so its name must not look like a paragraph of the mail. */
const oneLine = (name: string) => name.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();

export const invitationLetter = ({ email, organizationName, role }: InviteMail, link: string): Mail => ({
  to: email,
  subject: `You are invited to ${oneLine(organizationName)}`,
  text: [
    `You are invited to join ${oneLine(organizationName)} in Session Capture as ${role}.`,
    `Create your account here, within seven days:\n\n${link}`,
    `Already have an account for ${email}? Then signing in is enough.`,
    'If you did not expect this, do nothing.',
  ].join('\n\n'),
});

/** The invitation if another provider keeps the accounts. */
export const signInLetter = ({ email, organizationName, role }: InviteMail, link: string): Mail => ({
  to: email,
  subject: `You are invited to ${oneLine(organizationName)}`,
  text: [
    `You are invited to join ${oneLine(organizationName)} in Session Capture as ${role}.`,
    `Sign in as ${email} to join:\n\n${link}`,
    'If you did not expect this, do nothing.',
  ].join('\n\n'),
});

export const resetLetter = (email: string, link: string): Mail => ({
  to: email,
  subject: 'Set a new password',
  text: [
    'Somebody asked to set a new password for your Session Capture account.',
    `If it was you, set it here, within one hour:\n\n${link}`,
    'If it was not, do nothing: your password does not change.',
  ].join('\n\n'),
});

export const verificationLetter = (email: string, link: string): Mail => ({
  to: email,
  subject: 'Confirm your e-mail',
  text: [
    `Confirm that ${email} is yours, so that invitations to it reach you:\n\n${link}`,
    'The link works for seven days. If you made no Session Capture account, do nothing.',
  ].join('\n\n'),
});
