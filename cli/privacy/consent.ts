import { type StatePlace, stateFolder } from '../config.ts';
import { isInside } from '../paths.ts';
import { type Consent, type Decisions, openDecisions } from '../spool/decisions.ts';

export type { Consent } from '../spool/decisions.ts';

/** Reads the consent for earlier sessions. Undefined where none is stored; `isSaid` shows whether a person gave it. */
export function readConsent(context: StatePlace): Consent | undefined {
  const decisions = openDecisions(stateFolder(context));
  try {
    return decisions?.consent();
  } finally {
    decisions?.close();
  }
}

/** Stores a person's decision. */
export function writeConsent(context: StatePlace, consent: Omit<Consent, 'isSaid'>): void {
  const decisions = openDecisions(stateFolder(context), { isMade: true });
  decisions?.setConsent({ ...consent, isSaid: true });
  decisions?.close();
}

/** Returns the stored consent. If there is none, stores that nobody decided and that nothing from before now is allowed. */
export function ensureConsent(decisions: Decisions, now: number): Consent & { isNew: boolean } {
  const known = decisions.consent();
  if (known) return { ...known, isNew: false };
  const consent: Consent = { since: now, history: 'none' };
  decisions.setConsent(consent);
  return { ...consent, isNew: true };
}

/** The time from which records of a folder's sessions may be captured, in milliseconds since 1970. 0 means all records. */
export function wantedFrom(consent: Consent | undefined, folder: string | undefined): number {
  if (consent === undefined || consent.history === 'all') return 0;
  if (consent.history === 'none' || folder === undefined) return consent.since;
  return consent.history.some((each) => isInside(folder, each)) ? 0 : consent.since;
}

/** The part of a session that may be captured. Times are in milliseconds since 1970. */
export interface Wanted {
  /** Records from before this time stay on this machine. */
  from: number;
  /** Whether the session or one of its ancestors has earlier records. If so, no record that repeats them is captured. */
  hasEarlier: boolean;
}

/** The known beginning of a session. */
interface Beginning {
  folder?: string | undefined;
  startedAt?: number | undefined;
  parents?: readonly string[] | undefined;
}

const NEVER = Number.MAX_SAFE_INTEGER;

/** The part of a session and its ancestors that the person consented to. `find` returns a session that capture has met. */
export function wantedOf(
  consent: Consent | undefined,
  session: Beginning,
  find: (session: string) => Beginning | undefined,
): Wanted {
  if (consent === undefined || consent.history === 'all') return { from: 0, hasEarlier: false };
  let from = 0;
  let hasEarlier = false;
  for (const { folder, startedAt = 0 } of lineageOf(session, find)) {
    const start = wantedFrom(consent, folder);
    from = Math.max(from, start);
    if (startedAt < start) hasEarlier = true;
  }
  return { from: consent.isLost && hasEarlier ? NEVER : from, hasEarlier };
}

/** When the earliest of a session and its ancestors began. 0 if capture never met one of them. */
export const firstStartOf = (session: Beginning, find: (session: string) => Beginning | undefined): number =>
  Math.min(...[...lineageOf(session, find)].map(({ startedAt = 0 }) => startedAt));

/** A session and its ancestors. If capture never met an ancestor, nobody knows when that ancestor began. */
function* lineageOf(session: Beginning, find: (session: string) => Beginning | undefined): Generator<Beginning> {
  const known = new Set<string>();
  const left: Beginning[] = [session];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    yield one;
    for (const parent of (one.parents ?? []).filter((name) => !known.has(name))) {
      known.add(parent);
      left.push(find(parent) ?? {});
    }
  }
}
