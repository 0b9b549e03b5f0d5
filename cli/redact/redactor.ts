import { randomBytes } from 'node:crypto';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Variables } from '../agents/agent.ts';
import { type Aside, createAside } from './aside/aside.ts';
import { createBudget, OverBudget } from './budget.ts';
import { createEventRedactor } from './event.ts';
import { createKnownFinder } from './known/finder.ts';
import { createKnownValues } from './known/known-values.ts';
import { RULES_VERSION } from './rules/all.ts';

export interface RedactorOptions {
  variables: Variables;
  home: string;
  /** Absolute paths of what the agents sign in with. */
  credentials?: readonly string[];
  /** Folders whose `.env` files hold secrets of this machine; more are learned while reading. */
  cwds?: readonly string[];
  /** Further secrets of this machine: the capture program's own. */
  secrets?: readonly string[];
  /** What marks are made with; without one they compare within this process only. See `readKey`. */
  key?: Uint8Array;
  /** Rule ids and whole marks (`[REDACTED:slack-token:1f0c]`) that are let through. */
  allow?: readonly string[];
  /** Milliseconds since 1970. */
  now?: () => number;
  /** Milliseconds that never go back, for the time a record may take. */
  elapsed?: () => number;
  /** Where records go that take longer than `patienceMs`; a worker by default. */
  aside?: Aside;
  patienceMs?: number;
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

/** What a record is part of. */
export interface Subject {
  /** The agent and its own id of the session, a blank between them. */
  session: string;
  /** Where the agent worked: the secrets of that folder are learned. */
  folder?: string | undefined;
}

/** Nearly every record takes well below a millisecond. */
const PATIENCE_MS = 50;
/** Where no worker can be started, all is done here, and only between steps is it seen that it takes too long. */
const ALONE_MS = 5000;

/** Counts, in place of a rule, that nothing of an event was kept. */
export const WITHHELD = 'withheld';

export const FAILED = 'redaction failed';
export const TOOK_TOO_LONG = 'redaction took too long';

type Withhold = (event: CapturedEvent, reason: string) => CapturedEvent;

export function createRedactor(options: RedactorOptions): Redactor {
  const { key = randomBytes(32), allow = [], patienceMs = PATIENCE_MS } = options;
  const knownValues = createKnownValues(options);
  let finder = createKnownFinder(knownValues.values());
  const budget = createBudget(options.elapsed ?? (() => performance.now()));
  const { redactEvent, redactSource } = createEventRedactor({ known: () => finder, key, allow, budget });
  const aside = options.aside ?? createAside({ key, allow, known: () => knownValues.values() });

  function redactHere(event: CapturedEvent, ms: number, onOverBudget: Withhold): CapturedEvent {
    try {
      budget.start(ms);
      return redactEvent(event);
    } catch (error) {
      return error instanceof OverBudget ? onOverBudget(event, TOOK_TOO_LONG) : withhold(event, FAILED);
    }
  }

  function redactAside(event: CapturedEvent): CapturedEvent {
    const outcome = aside.redact(event);
    if (outcome.kind === 'done') return outcome.event ?? event;
    if (outcome.kind === 'unavailable') return redactHere(event, ALONE_MS, withhold);
    return withhold(event, outcome.kind === 'late' ? TOOK_TOO_LONG : FAILED);
  }

  function withhold(event: CapturedEvent, reason: string): CapturedEvent {
    return {
      eventType: 'unreadable',
      payload: { source: keepSource(event), raw: '', encoding: 'utf8', reason, redactions: { [WITHHELD]: 1 } },
    };
  }

  /** Where a withheld event was. Its path is given up rather than shown unread. */
  function keepSource(event: CapturedEvent): CapturedEvent['payload']['source'] {
    try {
      budget.start(patienceMs);
      return redactSource(event.payload.source, () => {});
    } catch {
      const { agent = '', session = '', position = 0 } = event?.payload?.source ?? {};
      return { agent, session, file: '', position };
    }
  }

  function learn(folder: string): void {
    try {
      if (knownValues.learn(folder)) finder = createKnownFinder(knownValues.values());
    } catch {
      // A folder that cannot be read has nothing to tell; the rules still apply.
    }
  }

  return {
    rules: RULES_VERSION,
    redact(events, { folder }) {
      if (folder !== undefined) learn(folder);
      return events.map((event) => redactHere(event, patienceMs, redactAside));
    },
  };
}
