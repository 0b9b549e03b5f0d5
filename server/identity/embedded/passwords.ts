import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Problem } from '../../../contract/problem.ts';

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long when there is no account, so that its absence cannot be told from the time. */
  matches(password: string, encoded: string | undefined): Promise<boolean>;
}

export const SHORTEST_PASSWORD = 8;
export const LONGEST_PASSWORD = 200;

/** OWASP's parameters for scrypt with 32 MiB: about 0.2 s of one core. */
const COST = { log2N: 15, r: 8, p: 3 };
const KEY_LENGTH = 32;
/** Hashing runs on the threads that files and names also need; half of the four are left to them. */
const MOST_AT_ONCE = 2;
const MOST_WAITING = 100;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

export function createPasswords(cost = COST): Passwords {
  const withTurn = createTurns();
  /** No password leads to it, yet it takes as long as one that does. */
  const decoy = encode(cost, randomBytes(16), randomBytes(KEY_LENGTH));

  async function hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const key = await withTurn(() => stretch(password, salt, cost));
    return encode(cost, salt, key);
  }

  async function matches(password: string, encoded: string | undefined): Promise<boolean> {
    const [, log2N, r, p, salt = '', key = ''] = (encoded ?? decoy).split('$');
    const parameters = { log2N: Number(log2N), r: Number(r), p: Number(p) };
    const found = await withTurn(() => stretch(password, Buffer.from(salt, 'base64url'), parameters));
    return timingSafeEqual(found, Buffer.from(key, 'base64url')) && encoded !== undefined;
  }

  return { hash, matches };
}

const encode = ({ log2N, r, p }: typeof COST, salt: Buffer, key: Buffer) =>
  ['scrypt', log2N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');

/** Text that looks the same is the same password, however a keyboard composed it (NIST SP 800-63B §5.1.1.2). */
const stretch = (password: string, salt: Buffer, { log2N, r, p }: typeof COST) =>
  derive(password.normalize('NFKC'), salt, KEY_LENGTH, { N: 2 ** log2N, r, p, maxmem: 2 ** log2N * r * 256 });

function createTurns() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (running < MOST_AT_ONCE) running++;
    else {
      if (waiting.length >= MOST_WAITING) {
        throw new Problem('service_unavailable', 'Too many people are signing in right now. Try again.', {
          retryAfter: 10,
        });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
