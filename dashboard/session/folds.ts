import { createKept } from '../kit/kept.ts';

const MAX_SESSIONS = 30;
const MAX_CHOICES = 1000;

export interface Folds {
  /** true: everything is open except for closed items. false: the other way round. */
  preset: boolean;
  chosen: ReadonlyMap<string, boolean>;
}

type Choice = [item: string, isOpen: boolean];
interface Stored {
  preset: boolean;
  chosen: Choice[];
}

const isChoice = (value: unknown): value is Choice =>
  Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'boolean';

const isStored = (value: unknown): value is Stored => {
  const { preset, chosen } = (value ?? {}) as Partial<Stored>;
  return typeof preset === 'boolean' && Array.isArray(chosen) && chosen.every(isChoice);
};

/** The rows that a reader opened or closed. */
const kept = createKept('folds', MAX_SESSIONS, isStored);

export function readFolds(sessionId: string): Folds {
  const { preset = false, chosen = [] } = kept.read(sessionId) ?? {};
  return { preset, chosen: new Map(chosen) };
}

export const keepFolds = (sessionId: string, { preset, chosen }: Folds): void =>
  kept.write(sessionId, { preset, chosen: [...chosen].slice(-MAX_CHOICES) });
