import { createContext, useContext, useEffect, useReducer, useState } from 'react';
import type { AnswerEntry, PromptEntry } from '../../../contract/entry/entry.ts';
import type { Texts } from '../../timeline/texts.ts';
import { useReading } from './reading.ts';

const TextsContext = createContext<Texts | undefined>(undefined);
export const TextsProvider = TextsContext.Provider;

/** Characters that are shown of a text while it goes by. */
const PASSING = 400;

/** What comes in sight while the timeline goes by fast is not laid out in full before somebody can read it. */
function useIsPassing(): boolean {
  const { isHurried } = useReading();
  const [isPassing, setPassing] = useState(isHurried.get);
  useEffect(
    () => (isPassing ? isHurried.subscribe(() => setPassing(isHurried.get())) : undefined),
    [isPassing, isHurried],
  );
  return isPassing;
}

/** The text of a message: the whole of it as soon as it is there, its beginning until then. */
export function useText(entry: PromptEntry | AnswerEntry): { text: string; isWhole: boolean } {
  const isPassing = useIsPassing();
  const texts = useContext(TextsContext);
  const [, drawAgain] = useReducer((count: number) => count + 1, 0);
  const isClipped = entry.text.length < entry.length;
  const whole = isClipped ? texts?.get(entry.sequence) : entry.text;
  const isMissing = whole === undefined;
  useEffect(() => (isMissing ? texts?.want(entry, drawAgain) : undefined), [texts, entry, isMissing]);
  return isPassing || isMissing
    ? { text: entry.text.slice(0, PASSING), isWhole: false }
    : { text: whole, isWhole: true };
}
