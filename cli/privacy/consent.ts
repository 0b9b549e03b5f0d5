import { join } from 'node:path';
import { readJson, type StatePlace, stateFolder, writeJson } from '../config.ts';
import type { Context } from '../context.ts';
import { isInside } from '../paths.ts';
import type { FileRow } from '../spool/files.ts';

/** What a person has let go of the sessions that were there before. What came after is captured. */
export interface Consent {
  /** When capturing began, in milliseconds since 1970. */
  since: number;
  /** Which earlier sessions are captured as well: those of the folders, where there is a list. */
  history: 'all' | 'none' | string[];
}

const consentPath = (context: StatePlace): string => join(stateFolder(context), 'history.json');

/** Undefined where nobody has been asked yet. */
export const readConsent = (context: StatePlace): Consent | undefined => readJson<Consent>(consentPath(context));

export const writeConsent = (context: StatePlace, consent: Consent): void => writeJson(consentPath(context), consent);

/**
 * The consent there is, or that of somebody who was never asked: nothing from before now. A machine that captured before
 * anybody was asked goes on as it did. `isNew` when it was decided just now.
 */
export function ensureConsent(context: StatePlace & Pick<Context, 'now'>, hasCaptured: boolean) {
  const known = readConsent(context);
  if (known) return { ...known, isNew: false };
  const consent: Consent = { since: context.now(), history: hasCaptured ? 'all' : 'none' };
  writeConsent(context, consent);
  return { ...consent, isNew: true };
}

/** From when on records of a folder's sessions may be captured, in milliseconds since 1970; 0 for all of them. */
export function wantedFrom(consent: Consent | undefined, folder: string | undefined): number {
  if (consent === undefined || consent.history === 'all') return 0;
  if (consent.history === 'none' || folder === undefined) return consent.since;
  return consent.history.some((each) => isInside(folder, each)) ? 0 : consent.since;
}

/** Whether what was left out of a file before is wanted by now. */
export const wantsMore = (
  consent: Consent | undefined,
  { leftBefore = 0, origin }: Pick<FileRow, 'leftBefore' | 'origin'>,
) => wantedFrom(consent, origin.cwd) < leftBefore;
