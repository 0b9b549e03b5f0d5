import { KEY_NAME } from './assignments.ts';
import { createMarker, type Marker } from './mark.ts';
import type { Scopes, ValueIndex } from './value-index.ts';
import { isHashOrId, isPlaceholder, looksRandom } from './values.ts';

/** The knowledge about a session while its records are masked. */
export interface Session {
  mark: Marker;
  /** Whether a mark was made in this session. Any other text of that form is ordinary text. */
  isOwn(mark: string): boolean;
  /** The mark of a secret outside of any session. `capture redact --test` shows it, and it can be let through everywhere. */
  markAnywhere: Marker;
  /** The roots of the repositories that the session works in. Their secrets are masked in it. */
  repositories: Scopes;
  /** The same repositories, and the session itself with the secrets that were masked in it before. */
  scopes: Scopes;
  addRepository(root: string): void;
  /** Remembers a masked secret for the session, or only for its record if it is less sure. Returns whether it is new. */
  remember(rule: string, secret: string): boolean;
  /** Forgets the secrets that only apply to one record. */
  endRecord(): void;
}

/** An agent works on a few sessions at once. For any other session, the masked secrets are forgotten. */
const MAX_SESSIONS = 64;
/** The limit per session: 16 kB of secrets take about 0.5 MB with all their forms. */
const MAX_LETTERS = 16_384;
const LONGEST = 4096;
const MAX_MARKS = 100_000;

/** @param trustsMarks whether every mark counts as made in its session, for masked text that is read again */
export function createSessions(key: Uint8Array, index: ValueIndex, trustsMarks = false): (name: string) => Session {
  const sessions = new Map<string, Session>();
  const markAnywhere = createMarker(key, '');

  function create(name: string): Session {
    const own = `session ${name}`;
    const record = `record ${name}`;
    const repositories = new Set<string>();
    const scopes = new Set([own, record]);
    let letters = 0;
    let hasOfRecord = false;
    const make = createMarker(key, name);
    const marks = new Set<string>();
    return {
      mark(rule, secret) {
        const mark = make(rule, secret);
        // A record is masked with its own new marks. Older marks appear in text that was masked before.
        if (marks.size >= MAX_MARKS) marks.clear();
        marks.add(mark);
        return mark;
      },
      isOwn: (mark) => trustsMarks || marks.has(mark),
      markAnywhere,
      repositories,
      scopes,
      addRepository(root) {
        repositories.add(root);
        scopes.add(root);
      },
      remember(rule, secret) {
        if (secret.length > LONGEST) return false;
        if (!isSure(rule, secret)) {
          if (!isSureInRecord(secret) || !index.add({ rule, secret }, record)) return false;
          hasOfRecord = true;
          return true;
        }
        if (!index.add({ rule, secret }, own)) return false;
        letters += secret.length;
        if (letters <= MAX_LETTERS) return true;
        index.drop(own);
        letters = secret.length;
        return index.add({ rule, secret }, own);
      },
      endRecord() {
        if (hasOfRecord) index.drop(record);
        hasOfRecord = false;
      },
    };
  }

  return (name) => {
    const session = sessions.get(name) ?? create(name);
    // The session moves to the end, so that the first one is the least recently used.
    sessions.delete(name);
    sessions.set(name, session);
    const [oldest] = sessions.keys();
    if (sessions.size > MAX_SESSIONS && oldest !== undefined) {
      sessions.delete(oldest);
      index.drop(`session ${oldest}`);
    }
    return session;
  };
}

/** Names, addresses and calls in code contain none of these characters. */
const SYMBOL = /^(?=.*\d)(?=.*[A-Za-z])(?=.*[!#%&*+^~?@])[!-~]{8,39}$/;
/** A password that a command, an address or a file of passwords has proved to be one. */
const PROVED = /^(?:(?=.*\d)(?=.*[A-Za-z])|(?=.*[a-z][A-Z]))[!-~]{10,100}$/;

/** `XmlStringMaxLen256`: all fields of a file may have it as their type, and one of them may be called a password. */
const CAMEL_CASE = /^[A-Za-z][a-z]*(?:[A-Z][a-z]+)+\$?\d*$/;
/** Random text mixes capitals, small letters and digits. Words have longer runs of one kind. */
const MAX_RUNS = 2.7;

/** Words are not searched for. Masking each `opensesame` of a session would reveal more than it hides, and lose more. */
function isSure(rule: string, secret: string): boolean {
  if (secret.startsWith('-----BEGIN') || SYMBOL.test(secret)) return true;
  if (rule !== KEY_NAME) {
    return looksRandom(secret) || (PROVED.test(secret) && !isPlaceholder(secret));
  }
  const runs = secret.match(/[a-z]+|[A-Z]+|\d+/g) ?? [];
  const isName = CAMEL_CASE.test(secret) || isHashOrId(secret);
  return !isName && looksRandom(secret) && runs.join('').length < MAX_RUNS * runs.length;
}

/** The shortest copy, in letters. */
const MIN_COPY = 8;

/**
 * Another record may have the same hash or id with another meaning. In the record that calls it a secret, the value has only
 * one meaning. So its copies are masked there, including those of a short password. A word stays.
 */
function isSureInRecord(secret: string): boolean {
  if (isHashOrId(secret)) return true;
  if (secret.length < MIN_COPY || !/^[!-~]+$/.test(secret) || isPlaceholder(secret) || CAMEL_CASE.test(secret))
    return false;
  if (/[A-Z]/.test(secret) && /[a-z]{6}/.test(secret)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(secret)).length;
  return kinds === 3 || (secret.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)/g)?.length ?? 0) > 2;
}
