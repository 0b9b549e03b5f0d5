import { createContext, useContext } from 'react';
import { createValue, type Value } from './value.ts';

/** The row that keys act on. It has the focus whenever the timeline has. */
export interface Current {
  key: string;
  sequence: number;
  order: number;
}

/** What is being read of a session. It changes with every key and every wheel, and so is no state of the page. */
export interface Reading {
  current: Value<Current | undefined>;
  /** The orders between which a range of events is marked. */
  range: Value<{ from: number; to: number } | undefined>;
  /** The order of the first and last row in sight. */
  seen: Value<{ from: number; to: number }>;
  /** Words that are looked for, to be marked where they are shown. */
  words: Value<string>;
  /** The events in which they were found. */
  hits: Value<ReadonlySet<number>>;
}

export const createReading = (): Reading => ({
  current: createValue<Current | undefined>(undefined),
  range: createValue<{ from: number; to: number } | undefined>(undefined),
  seen: createValue({ from: 0, to: 0 }),
  words: createValue(''),
  hits: createValue<ReadonlySet<number>>(new Set()),
});

const ReadingContext = createContext<Reading | undefined>(undefined);
export const ReadingProvider = ReadingContext.Provider;

export function useReading(): Reading {
  const reading = useContext(ReadingContext);
  if (!reading) throw new Error('There is no ReadingProvider above.');
  return reading;
}
