import { randomBytes } from 'node:crypto';
import type { CapturedEvent } from '../transcript/vocabulary.ts';
import { createPayloadRedactor } from './payload.ts';
import { RULES } from './rules/all.ts';
import { createSessions, type Session } from './sessions.ts';
import { createTextRedactor, KNOWN_VALUE, type Pass } from './text.ts';
import { createValueIndex } from './value-index.ts';
import { RULES_VERSION } from './version.ts';

/**
 * Calls `add` with the secrets of this machine, now and when they change. `root` is given if a secret only applies in one
 * repository. Returns a function that learns the secrets of a folder and returns the root of its repository. It is called for
 * each record.
 */
export type KnownSecrets = (add: (secret: string, root?: string) => unknown) => (folder: string) => string | undefined;

export interface RedactorOptions {
  /** The source of this machine's secrets. Without it, only names and rules find secrets. */
  known?: KnownSecrets;
  /** The key of the marks. Without one, marks can only be compared within this process. See `readKey`. */
  key?: Uint8Array;
  /** Rule ids and whole marks (`[REDACTED:slack-token:1f0c]`) that are let through. */
  allow?: readonly string[];
  /** Whether the marks of other redactors count as its own, for text that was masked before. */
  trustsMarks?: boolean;
}

/** The session of a record. */
export interface Subject {
  /** The agent and its own id of the session, separated by a blank. */
  session: string;
  /** The folder the agent worked in. The secrets of its repository are masked in this session. */
  folder?: string | undefined;
}

export interface Redactor {
  /** The version of the rules, for the event's metadata. */
  rules: string;
  /**
   * Copies of one record's events without secrets. Returns the events themselves if there are none. Never throws: an event
   * that cannot be read is withheld.
   */
  redact(events: readonly CapturedEvent[], of: Subject): CapturedEvent[];
}

/** Used in place of a rule to count events that were dropped. */
export const WITHHELD = 'withheld';
export const FAILED = 'redaction failed';

/** A pass masks values that the previous pass learned late in the record. Usually one pass is enough. */
const PASSES = 4;
/** How many secrets of a record are remembered. Learning one takes as long as masking twenty. */
const MAX_LEARNED = 100;

type Source = CapturedEvent['payload']['source'];

export function createRedactor(options: RedactorOptions = {}): Redactor {
  const { key = randomBytes(32), allow = [], known, trustsMarks } = options;
  const index = createValueIndex();
  const learnFolder = known?.((secret, root) => index.add({ secret, rule: KNOWN_VALUE }, root));
  const sessionOf = createSessions(key, index, trustsMarks);
  const text = createTextRedactor(RULES, index, new Set(allow));
  const { redactJson } = createPayloadRedactor(text);

  function redactEvent(event: CapturedEvent, session: Session, learn: Pass['count']): CapturedEvent {
    const counts: { [rule: string]: number } = {};
    const pass: Pass = {
      session,
      count(rule, secret) {
        counts[rule] = (counts[rule] ?? 0) + 1;
        learn(rule, secret);
      },
    };
    const masked = mapFields(event.payload, (value, name) => {
      if (name === 'source') return redactSource(value as Source, pass);
      return name === 'redactions' ? value : redactJson(value, name, pass);
    });
    if (Object.keys(counts).length === 0) return event;
    const { redactions = {}, ...fields } = masked;
    for (const [rule, count] of Object.entries(redactions)) counts[rule] = (counts[rule] ?? 0) + count;
    return { ...event, payload: { ...fields, redactions: counts } } as CapturedEvent;
  }

  /** Paths and ids identify the record, so only sure secrets are masked in them. */
  const redactSource = (source: Source, pass: Pass): Source =>
    mapFields(source, (value) => (typeof value === 'string' ? text.redactKnown(value, pass) : value));

  function withhold(event: CapturedEvent, session: Session): CapturedEvent {
    const payload = { source: keepSource(event, session), raw: '', encoding: 'utf8' as const, reason: FAILED };
    return { eventType: 'unreadable', payload: { ...payload, redactions: { [WITHHELD]: 1 } } };
  }

  /** The place of a withheld event. Its path is dropped, because it could not be checked. */
  function keepSource(event: CapturedEvent, session: Session): Source {
    try {
      return redactSource(event.payload.source, { session, count() {} });
    } catch {
      const { agent = '', session: id = '', position = 0 } = event?.payload?.source ?? {};
      return { agent, session: id, file: '', position };
    }
  }

  return {
    rules: RULES_VERSION,
    redact(events, of) {
      const session = sessionOf(of.session);
      const root = of.folder && learnFolder?.(of.folder);
      if (root) session.addRepository(root);
      let learned = 0;
      const learn: Pass['count'] = (rule, secret) => {
        if (rule !== KNOWN_VALUE && learned < MAX_LEARNED && session.remember(rule, secret)) learned++;
      };
      let masked = [...events];
      for (let pass = 0, before = -1; pass < PASSES && learned > before; pass++) {
        before = learned;
        masked = masked.map((event) => {
          try {
            return redactEvent(event, session, learn);
          } catch {
            return withhold(event, session);
          }
        });
      }
      session.endRecord();
      return masked;
    },
  };
}

/** A copy if a field changes. Otherwise the object itself. */
function mapFields<Fields extends object>(fields: Fields, map: (value: unknown, name: string) => unknown): Fields {
  let changed: { [name: string]: unknown } | undefined;
  for (const name of Object.keys(fields)) {
    const before = (fields as { [name: string]: unknown })[name];
    const after = map(before, name);
    if (after !== before) changed = { ...changed, [name]: after };
  }
  return changed === undefined ? fields : { ...fields, ...changed };
}
