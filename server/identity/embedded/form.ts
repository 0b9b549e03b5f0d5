import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Value } from 'typebox/value';
import { Email } from '../../../contract/organization.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Addresses } from './addresses.ts';
import { MAX_PASSWORD, MIN_PASSWORD } from './passwords.ts';

const MAX_FORM = 16 * 1024;

/** Makes the routes of `app` read forms, and refuse forms that pages of other sites send (CSRF). */
export function readForms(app: FastifyInstance, addresses: Addresses): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: MAX_FORM },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
  const origins = new Set(addresses.dashboards.map((address) => new URL(address).origin));
  app.addHook('preHandler', async (request) => {
    if (request.method === 'POST' && !isOwnForm(request, origins)) {
      throw new Problem(
        'validation_failed',
        'This form was not sent from a page of this service. Go back and try again.',
      );
    }
  });
}

/**
 * On secure origins, browsers send the origin of a form in Sec-Fetch-Site; on all origins, in Origin. Other clients send
 * neither.
 */
function isOwnForm({ headers }: FastifyRequest, origins: ReadonlySet<string>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin !== undefined && origins.has(headers.origin);
}

/** A field of the form; empty if it is absent. */
export const fieldOf = (request: FastifyRequest, name: string): string =>
  request.body instanceof URLSearchParams ? (request.body.get(name) ?? '') : '';

/** The error of an e-mail, if any. Only a mail can prove that the address exists. */
export function refuseEmail(email: string): string | undefined {
  return Value.Check(Email, email) ? undefined : 'Enter an e-mail address, such as ada@example.com.';
}

/** The error of a new password, if any (NIST SP 800-63B: too short, or easy to guess). */
export function refusePassword(password: string, email: string): string | undefined {
  const length = [...password].length;
  if (length < MIN_PASSWORD) return `The password needs at least ${MIN_PASSWORD} characters.`;
  if (length > MAX_PASSWORD) return `The password may have at most ${MAX_PASSWORD} characters.`;
  const plain = password.toLowerCase();
  const isEasy =
    plain === email.toLowerCase() || new Set(plain).size < 3 || /^(password|12345678|qwertyui)/.test(plain);
  return isEasy ? 'This password is too easy to guess. Choose another.' : undefined;
}

/** The message for somebody who must wait; also sets `Retry-After`. */
export function tooMany(reply: FastifyReply, seconds: number): string {
  reply.header('retry-after', String(seconds));
  const minutes = Math.ceil(seconds / 60);
  return `Too many attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
}
