import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Problem } from '../../../contract/problem.ts';

export interface Passwords {
  /** @throws Problem `service_unavailable` when too many wait already */
  hash(password: string, asker: Asker): Promise<string>;
  /**
   * Takes as long when there is no account, so that its absence cannot be told from the time.
   * @throws Problem `service_unavailable` when too many wait already
   */
  matches(password: string, encoded: string | undefined, asker: Asker): Promise<boolean>;
}

/** Who waits for a hash. */
export interface Asker {
  /** Its neighbours share places in the queue: see `siteOf`. */
  network: string;
  /** The browser signed in to the account before, or holds a link that was mailed. It goes before strangers. */
  isKnown: boolean;
}

export const SHORTEST_PASSWORD = 8;
export const LONGEST_PASSWORD = 200;

/** OWASP's parameters for scrypt with 32 MiB: about 0.2 s of one core. */
const COST = { log2N: 15, r: 8, p: 3 };
const KEY_LENGTH = 32;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

export function createPasswords(cost = COST): Passwords {
  const queue = new HashQueue();
  /** No password leads to it, yet it takes as long as one that does. */
  const decoy = encode(cost, randomBytes(16), randomBytes(KEY_LENGTH));

  async function hash(password: string, asker: Asker): Promise<string> {
    const salt = randomBytes(16);
    const key = await queue.run(asker, () => stretch(password, salt, cost));
    return encode(cost, salt, key);
  }

  async function matches(password: string, encoded: string | undefined, asker: Asker): Promise<boolean> {
    const [, log2N, r, p, salt = '', key = ''] = (encoded ?? decoy).split('$');
    const parameters = { log2N: Number(log2N), r: Number(r), p: Number(p) };
    const found = await queue.run(asker, () => stretch(password, Buffer.from(salt, 'base64url'), parameters));
    return timingSafeEqual(found, Buffer.from(key, 'base64url')) && encoded !== undefined;
  }

  return { hash, matches };
}

const encode = ({ log2N, r, p }: typeof COST, salt: Buffer, key: Buffer) =>
  ['scrypt', log2N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');

/** Text that looks the same is the same password, however a keyboard composed it (NIST SP 800-63B §5.1.1.2). */
const stretch = (password: string, salt: Buffer, { log2N, r, p }: typeof COST) =>
  derive(password.normalize('NFKC'), salt, KEY_LENGTH, { N: 2 ** log2N, r, p, maxmem: 2 ** log2N * r * 256 });

/** Hashing runs on the threads that files and host names need as well; half of the four are left to them. */
const MOST_AT_ONCE = 2;
/** The other 20 of 100 places are kept for those who are known. */
const MOST_STRANGERS = 80;
const MOST_WAITING = 100;
/** Places of one network, so that it takes ten networks to fill those of strangers. */
const MOST_OF_NETWORK = 8;

type Start = () => void;

/** Those who are known go first; strangers take turns by network. */
class HashQueue {
  #running = 0;
  #strangers = 0;
  readonly #known: Start[] = [];
  /** Those who wait, by network; the first network has the next turn. */
  readonly #networks = new Map<string, Start[]>();

  async run<Value>(asker: Asker, work: () => Promise<Value>): Promise<Value> {
    if (this.#running < MOST_AT_ONCE) this.#running++;
    else await this.#wait(asker);
    try {
      return await work();
    } finally {
      // The place passes to the next without becoming free in between.
      const start = this.#next();
      if (start) start();
      else this.#running--;
    }
  }

  #wait({ network, isKnown }: Asker): Promise<void> {
    const waiting = isKnown ? this.#known : (this.#networks.get(network) ?? []);
    const isFull = isKnown
      ? this.#known.length + this.#strangers >= MOST_WAITING
      : this.#strangers >= MOST_STRANGERS || waiting.length >= MOST_OF_NETWORK;
    if (isFull) throw tooManyWait();
    if (!isKnown) {
      this.#strangers++;
      this.#networks.set(network, waiting);
    }
    return new Promise((resolve) => waiting.push(resolve));
  }

  #next(): Start | undefined {
    const known = this.#known.shift();
    if (known) return known;
    const [turn] = this.#networks;
    if (!turn) return undefined;
    const [network, waiting] = turn;
    this.#strangers--;
    this.#networks.delete(network);
    const start = waiting.shift();
    if (waiting.length > 0) this.#networks.set(network, waiting);
    return start;
  }
}

const tooManyWait = () =>
  new Problem('service_unavailable', 'Too many people are signing in right now. Try again.', { retryAfter: 10 });
