import { randomBytes } from 'node:crypto';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Variables } from '../agents/agent.ts';
import { createKnownFinder } from './known/finder.ts';
import { createKnownValues } from './known/known-values.ts';
import { createMarker } from './mark.ts';
import { createPayloadRedactor } from './payload.ts';
import { RULES, RULES_VERSION } from './rules/all.ts';
import { type Count, createTextRedactor } from './text.ts';

export interface RedactorOptions {
  variables: Variables;
  home: string;
  /** Folders whose `.env` files hold secrets of this machine; more are learned while reading. */
  cwds?: readonly string[];
  /** Further secrets of this machine: the capture program's own. */
  secrets?: readonly string[];
  /** What marks are made with; without one they compare within this process only. See `readKey`. */
  key?: Uint8Array;
  /** Rule ids and whole marks (`[REDACTED:slack-token:1f0c]`) that are let through. */
  allow?: readonly string[];
  now?: () => number;
}

export interface Redactor {
  /** The version of the rules, for the event's metadata. */
  rules: string;
  /** A copy without secrets; the event itself where there are none. Never throws: what cannot be read is withheld. */
  redact(event: CapturedEvent): CapturedEvent;
  /** Takes in the secrets of a folder. Cheap for a folder that is known: call it for each record. */
  learn(cwd: string): void;
}

export function createRedactor(options: RedactorOptions): Redactor {
  const knownValues = createKnownValues(options);
  let finder = createKnownFinder(knownValues.values());
  const text = createTextRedactor({
    rules: RULES,
    known: () => finder,
    mark: createMarker(options.key ?? randomBytes(32)),
    allow: new Set(options.allow),
  });
  const payload = createPayloadRedactor(text);

  function redactPayload(before: CapturedEvent['payload']): CapturedEvent['payload'] {
    const counts = new Map<string, number>();
    const count: Count = (rule) => counts.set(rule, (counts.get(rule) ?? 0) + 1);
    const { source, redactions, ...fields } = before;
    const after: { [name: string]: unknown } = { source: redactSource(source, count) };
    for (const [name, value] of Object.entries(fields)) after[name] = payload.redactJson(value, name, count);
    if (counts.size === 0) return before;
    return { ...after, redactions: addCounts(redactions, counts) } as CapturedEvent['payload'];
  }

  /** Paths and ids say which record this is. Only what is surely a secret is taken out of them. */
  function redactSource(source: CapturedEvent['payload']['source'], count: Count): CapturedEvent['payload']['source'] {
    const entries = Object.entries(source).map(([name, value]) => [
      name,
      typeof value === 'string' ? text.redactKnown(value, count) : value,
    ]);
    return Object.fromEntries(entries) as CapturedEvent['payload']['source'];
  }

  /** Where a withheld event was. Its path is given up rather than shown unread. */
  function keepSource(event: CapturedEvent): CapturedEvent['payload']['source'] {
    try {
      return redactSource(event.payload.source, () => {});
    } catch {
      const { agent = '', session = '', position = 0 } = event?.payload?.source ?? {};
      return { agent, session, file: '', position };
    }
  }

  return {
    rules: RULES_VERSION,
    redact(event) {
      try {
        const payload = redactPayload(event.payload);
        return payload === event.payload ? event : ({ ...event, payload } as CapturedEvent);
      } catch {
        return withhold(keepSource(event));
      }
    },
    learn(cwd) {
      try {
        if (knownValues.learn(cwd)) finder = createKnownFinder(knownValues.values());
      } catch {
        // A folder that cannot be read has nothing to tell; the rules still apply.
      }
    },
  };
}

function addCounts(before: { [rule: string]: number } | undefined, counts: Map<string, number>) {
  const sums = { ...before };
  for (const [rule, number] of counts) sums[rule] = (sums[rule] ?? 0) + number;
  return sums;
}

/** Closed on failure: the event says where it was, and nothing of what was in it. */
function withhold(source: CapturedEvent['payload']['source']): CapturedEvent {
  return {
    eventType: 'unreadable',
    payload: { source, raw: '', encoding: 'utf8', reason: 'redaction failed', redactions: { withheld: 1 } },
  };
}
