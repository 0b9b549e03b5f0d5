import { readLocal, writeLocal } from '../kit/local-storage.ts';

/** The rows that a reader opened or closed, stored in the browser for the sessions read last. */
const NAME = 'folds';
const MOST_SESSIONS = 30;
const MOST_CHOICES = 1000;

export interface Folds {
  /** true: everything is open except for closed items. false: the other way round. */
  preset: boolean;
  chosen: ReadonlyMap<string, boolean>;
}

type Choice = [item: string, isOpen: boolean];
type Kept = [sessionId: string, preset: boolean, chosen: Choice[]];

function readAll(): Kept[] {
  const kept = readLocal(NAME);
  return Array.isArray(kept) ? kept.filter(isKept) : [];
}

const isKept = (value: unknown): value is Kept =>
  Array.isArray(value) &&
  typeof value[0] === 'string' &&
  typeof value[1] === 'boolean' &&
  Array.isArray(value[2]) &&
  value[2].every(isChoice);

const isChoice = (value: unknown): value is Choice =>
  Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'boolean';

export function readFolds(sessionId: string): Folds {
  const [, preset = false, chosen = []] = readAll().find(([id]) => id === sessionId) ?? [];
  return { preset, chosen: new Map(chosen) };
}

export function keepFolds(sessionId: string, { preset, chosen }: Folds): void {
  const others = readAll().filter(([id]) => id !== sessionId);
  const kept: Kept[] = [[sessionId, preset, [...chosen].slice(-MOST_CHOICES)], ...others];
  writeLocal(NAME, kept.slice(0, MOST_SESSIONS));
}
