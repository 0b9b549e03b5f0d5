import { randomBytes } from 'node:crypto';
import type { CapturedEvent } from '../contract/transcript.ts';
import { createPayloadRedactor } from './payload.ts';
import { RULES } from './rules/all.ts';
import { createSessions, type Session } from './sessions.ts';
import { createTextRedactor, KNOWN_VALUE, type Pass } from './text.ts';
import { createValueIndex } from './value-index.ts';
import { RULES_VERSION } from './version.ts';

/**
 * Tells `add` the secrets of this machine, now and as they change; `root` where they count in one repository alone. Gives a
 * function that learns the secrets of a folder, and tells the root of its repository. It is called for each record.
 */
export type KnownSecrets = (add: (secret: string, root?: string) => unknown) => (folder: string) => string | undefined;

export interface RedactorOptions {
  /** Where the secrets of this machine are known from; without it only names and rules tell. */
  known?: KnownSecrets;
  /** What marks are made with; without one they compare within this process only. See `readKey`. */
  key?: Uint8Array;
  /** Rule ids and whole marks (`[REDACTED:slack-token:1f0c]`) that are let through. */
  allow?: readonly string[];
  /** Whether the marks of other redactors count as its own: for text that was masked before. */
  trustsMarks?: boolean;
}

/** What a record is part of. */
export interface Subject {
  /** The agent and its own id of the session, a blank between them. */
  session: string;
  /** Where the agent worked: the secrets of that folder's repository are masked in this session. */
  folder?: string | undefined;
}

export interface Redactor {
  /** The version of the rules, for the event's metadata. */
  rules: string;
  /**
   * Copies without secrets of the events of one record; the events themselves where there are none. Never throws: what
   * cannot be read is withheld.
   */
  redact(events: readonly CapturedEvent[], of: Subject): CapturedEvent[];
}

/** Counts, in place of a rule, that nothing of an event was kept. */
export const WITHHELD = 'withheld';
export const FAILED = 'redaction failed';

/** Each pass masks values early in the record that the pass before learned late in it. Usually one is enough. */
const PASSES = 4;
/** Secrets of a record that are remembered. To learn one takes as long as to mask twenty. */
const MOST_LEARNED = 100;

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

  /** Paths and ids identify the record. Only sure secrets are masked in them. */
  const redactSource = (source: Source, pass: Pass): Source =>
    mapFields(source, (value) => (typeof value === 'string' ? text.redactKnown(value, pass) : value));

  function withhold(event: CapturedEvent, session: Session): CapturedEvent {
    const payload = { source: keepSource(event, session), raw: '', encoding: 'utf8' as const, reason: FAILED };
    return { eventType: 'unreadable', payload: { ...payload, redactions: { [WITHHELD]: 1 } } };
  }

  /** Where a withheld event was. Its path is given up rather than shown unread. */
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
        if (rule !== KNOWN_VALUE && learned < MOST_LEARNED && session.remember(rule, secret)) learned++;
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

/** A copy where a field changes; else the object itself. */
function mapFields<Fields extends object>(fields: Fields, map: (value: unknown, name: string) => unknown): Fields {
  let changed: { [name: string]: unknown } | undefined;
  for (const name of Object.keys(fields)) {
    const before = (fields as { [name: string]: unknown })[name];
    const after = map(before, name);
    if (after !== before) changed = { ...changed, [name]: after };
  }
  return changed === undefined ? fields : { ...fields, ...changed };
}
