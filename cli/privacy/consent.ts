import { type StatePlace, stateFolder } from '../config.ts';
import { isInside } from '../paths.ts';
import { type Consent, type Decisions, openDecisions } from '../spool/decisions.ts';

export type { Consent } from '../spool/decisions.ts';

/** What a person has let go of earlier sessions; undefined where nobody has been asked yet. */
export function readConsent(context: StatePlace): Consent | undefined {
  const decisions = openDecisions(stateFolder(context));
  try {
    return decisions?.consent();
  } finally {
    decisions?.close();
  }
}

/** Notes a person's decision. */
export function writeConsent(context: StatePlace, consent: Omit<Consent, 'isSaid'>): void {
  const decisions = openDecisions(stateFolder(context), { isMade: true });
  decisions?.setConsent({ ...consent, isSaid: true });
  decisions?.close();
}

/** The consent, or that of a person who never decided: nothing from before now. */
export function ensureConsent(decisions: Decisions, now: number): Consent & { isNew: boolean } {
  const known = decisions.consent();
  if (known) return { ...known, isNew: false };
  const consent: Consent = { since: now, history: 'none' };
  decisions.setConsent(consent);
  return { ...consent, isNew: true };
}

/** From when on records of a folder's sessions may be captured, in milliseconds since 1970; 0 for all of them. */
export function wantedFrom(consent: Consent | undefined, folder: string | undefined): number {
  if (consent === undefined || consent.history === 'all') return 0;
  if (consent.history === 'none' || folder === undefined) return consent.since;
  return consent.history.some((each) => isInside(folder, each)) ? 0 : consent.since;
}

/** What of a session may be captured. Times in milliseconds since 1970. */
export interface Wanted {
  /** Records from before it stay here. */
  from: number;
  /** Whether there are such records, in it or in a session that it comes from: then nothing that repeats them is captured. */
  hasEarlier: boolean;
}

/** A session as far as its beginnings are known. */
interface Beginning {
  folder?: string | undefined;
  startedAt?: number | undefined;
  parents?: readonly string[] | undefined;
}

const NEVER = Number.MAX_SAFE_INTEGER;

/** What a person let go of a session and of those it comes from; `find` tells of one that was met. */
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

/** When the first of a session and those it comes from began; 0 where one of them was never met. */
export const firstStartOf = (session: Beginning, find: (session: string) => Beginning | undefined): number =>
  Math.min(...[...lineageOf(session, find)].map(({ startedAt = 0 }) => startedAt));

/** A session and those that it comes from. Nobody knows when one began that was never met. */
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
