import { type RefObject, useEffect } from 'react';
import { parseWords } from '../../../contract/query.ts';
import { useReading } from './reading.ts';

const NAME = 'found';
const MOST_MARKS = 2_000;

/** Marks the words that are looked for wherever they are drawn, without a change of the document. */
export function useMarks(area: RefObject<HTMLElement | null>): void {
  const { words } = useReading();
  useEffect(() => {
    const element = area.current;
    if (!element || !('highlights' in CSS)) return;
    let frame = 0;
    const mark = () => {
      const looked = parseWords(words.get()).terms.map(({ text }) => text.toLowerCase());
      if (looked.length === 0) CSS.highlights.delete(NAME);
      else CSS.highlights.set(NAME, new Highlight(...looked.flatMap((term) => findRanges(element, term))));
    };
    const markSoon = () => {
      cancelAnimationFrame(frame);
      if (words.get() !== '' || CSS.highlights.has(NAME)) frame = requestAnimationFrame(mark);
    };
    const observer = new MutationObserver(markSoon);
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    const stop = words.subscribe(markSoon);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      stop();
      CSS.highlights.delete(NAME);
    };
  }, [area, words]);
}

function findRanges(element: HTMLElement, term: string): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < MOST_MARKS; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    // Some letters are longer in lower case: places in such a text would be wrong.
    if (text.length !== node.nodeValue?.length) continue;
    for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + term.length);
      ranges.push(range);
    }
  }
  return ranges;
}
