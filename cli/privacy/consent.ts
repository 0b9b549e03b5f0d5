import { type StatePlace, stateFolder } from '../config.ts';
import type { Consent } from '../decide/periods.ts';
import { type Decisions, openDecisions } from '../spool/decisions.ts';

export type { Consent } from '../decide/periods.ts';

/** Reads the consent for earlier sessions. Undefined where none is stored; `isByPerson` shows whether a person gave it. */
export function readConsent(context: StatePlace): Consent | undefined {
  const decisions = openDecisions(stateFolder(context));
  try {
    return decisions?.consent();
  } finally {
    decisions?.close();
  }
}

/** Stores a person's decision. */
export function writeConsent(context: StatePlace, consent: Omit<Consent, 'isByPerson'>): void {
  const decisions = openDecisions(stateFolder(context), { isMade: true });
  decisions?.setConsent({ ...consent, isByPerson: true });
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
