import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccountRow } from '../../store/schema.ts';
import type { Addresses } from './addresses.ts';

/** Recognizes browsers that signed in to an account before, so that guesses from elsewhere do not lock its holder out. */
export interface KnownBrowsers {
  /** The browser's random name, if somebody signed in there with the current password of the account. */
  recognize(request: FastifyRequest, account: AccountRow): string | undefined;
  remember(reply: FastifyReply, account: AccountRow): void;
}

const LIFE_S = 180 * 86_400;

/** Remembers the browser in a signed cookie. The service stores nothing. */
export function createKnownBrowsers(key: string, { path, publicUrl }: Addresses): KnownBrowsers {
  const isSecure = publicUrl.protocol === 'https:';
  const cookie = `${isSecure ? '__Secure-' : ''}capture-browser`;
  const pattern = new RegExp(`(?:^|; )${cookie}=([\\w-]{22})\\.([\\w-]{43})(?:;|$)`);
  const attributes = `path=${path}; max-age=${LIFE_S}; httponly; samesite=lax${isSecure ? '; secure' : ''}`;

  const sign = (name: string, { account_id, password_version }: AccountRow) =>
    createHmac('sha256', key).update(`browser ${name} ${account_id} ${password_version}`).digest('base64url');

  return {
    recognize({ headers }, account) {
      const [, name = '', signature = ''] = pattern.exec(headers.cookie ?? '') ?? [];
      if (name === '') return undefined;
      return timingSafeEqual(Buffer.from(signature), Buffer.from(sign(name, account))) ? name : undefined;
    },
    remember(reply, account) {
      const name = randomBytes(16).toString('base64url');
      // Set on the raw response, because Fastify's own headers would replace the provider's cookies.
      reply.raw.appendHeader('set-cookie', `${cookie}=${name}.${sign(name, account)}; ${attributes}`);
    },
  };
}
