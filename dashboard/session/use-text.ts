import { createContext, useContext, useEffect, useReducer } from 'react';
import type { AnswerEntry, PromptEntry } from '../../transcript/entry/entry.ts';
import type { Texts } from './model/texts.ts';

const TextsContext = createContext<Texts | undefined>(undefined);
export const TextsProvider = TextsContext.Provider;

/** Characters of a text that are shown while the whole text loads. */
const BEGINNING = 400;

/** The text of a message: its beginning until the whole text is loaded. */
export function useText(entry: PromptEntry | AnswerEntry): { text: string; isWhole: boolean } {
  const texts = useContext(TextsContext);
  const [, drawAgain] = useReducer((count: number) => count + 1, 0);
  const isClipped = entry.text.length < entry.length;
  const whole = isClipped ? texts?.get(entry.sequence) : entry.text;
  const isMissing = whole === undefined;
  useEffect(() => (isMissing ? texts?.want(entry, drawAgain) : undefined), [texts, entry, isMissing]);
  return isMissing ? { text: entry.text.slice(0, BEGINNING), isWhole: false } : { text: whole, isWhole: true };
}
