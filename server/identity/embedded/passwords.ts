import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Problem } from '../../../contract/problem.ts';
import { siteOf } from '../../network.ts';
import { Queue } from '../../work.ts';

export interface Passwords {
  /** @throws Problem `service_unavailable` when too many requests already wait */
  hash(password: string, requester: Requester): Promise<string>;
  /**
   * Takes as long without an account as with one, so that the time does not reveal whether an account exists.
   * @throws Problem `service_unavailable` when too many requests already wait
   */
  matches(password: string, encoded: string | undefined, requester: Requester): Promise<boolean>;
}

/** The person who waits for a hash. */
export interface Requester {
  address: string;
  /** The browser signed in to the account before, or holds a link that was mailed. */
  isKnown: boolean;
}

export const MIN_PASSWORD = 8;
export const MAX_PASSWORD = 200;

/** OWASP's parameters for scrypt with 32 MiB: about 0.2 s of one core. */
const COST = { log2N: 15, r: 8, p: 3 };
const KEY_LENGTH = 32;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Hashing shares Node's four threads with files and host names, so it may use only half of them. */
const MAX_AT_ONCE = 2;
/** Ten seconds of hashing. */
const MAX_WAITING = 80;

/**
 * Known people and strangers have separate queues. Each serves networks in turn. A full queue drops the newest
 * attempt of the network with the most waiting, so that a few networks cannot keep others out.
 */
const placeOf = ({ address, isKnown }: Requester) => ({
  group: isKnown ? 'known' : 'strangers',
  person: siteOf(address),
});

export function createPasswords(cost = COST, atOnce = MAX_AT_ONCE): Passwords {
  const queue = new Queue({ atOnce, maxWaiting: MAX_WAITING, full: tooManyWait });
  /** A hash without a password. Checking it takes as long as checking a real one. */
  const decoy = encode(cost, randomBytes(16), randomBytes(KEY_LENGTH));

  async function hash(password: string, requester: Requester): Promise<string> {
    const salt = randomBytes(16);
    const key = await queue.run(() => stretch(password, salt, cost), placeOf(requester));
    return encode(cost, salt, key);
  }

  async function matches(password: string, encoded: string | undefined, requester: Requester): Promise<boolean> {
    const [, log2N, r, p, salt = '', key = ''] = (encoded ?? decoy).split('$');
    const parameters = { log2N: Number(log2N), r: Number(r), p: Number(p) };
    const found = await queue.run(
      () => stretch(password, Buffer.from(salt, 'base64url'), parameters),
      placeOf(requester),
    );
    return timingSafeEqual(found, Buffer.from(key, 'base64url')) && encoded !== undefined;
  }

  return { hash, matches };
}

const encode = ({ log2N, r, p }: typeof COST, salt: Buffer, key: Buffer) =>
  ['scrypt', log2N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');

/** Text that looks the same is the same password, however a keyboard composed it (NIST SP 800-63B §5.1.1.2). */
const stretch = (password: string, salt: Buffer, { log2N, r, p }: typeof COST) =>
  derive(password.normalize('NFKC'), salt, KEY_LENGTH, { N: 2 ** log2N, r, p, maxmem: 2 ** log2N * r * 256 });

const tooManyWait = () =>
  new Problem('service_unavailable', 'Too many people are signing in right now. Try again.', { retryAfter: 10 });
