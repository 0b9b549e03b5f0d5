import { type RefObject, useEffect } from 'react';
import { parseWords } from '../../contract/query.ts';
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
  for (const nodes of textsIn(element)) {
    const text = nodes.map(lowerCase).join('');
    let index = 0;
    let start = 0;
    /** In which of the nodes the character is, and where. */
    const placeOf = (at: number): [Text, number] => {
      for (let node = nodes[index] as Text; ; node = nodes[++index] as Text) {
        if (at < start + node.length) return [node, at - start];
        start += node.length;
      }
    };
    for (
      let at = text.indexOf(term);
      at >= 0 && ranges.length < MOST_MARKS;
      at = text.indexOf(term, at + term.length)
    ) {
      const range = new Range();
      range.setStart(...placeOf(at));
      const [last, place] = placeOf(at + term.length - 1);
      range.setEnd(last, place + 1);
      ranges.push(range);
    }
  }
  return ranges;
}

/** Where a text is one to its reader, though it is in pieces of several colours. */
const LINES = 'pre, p, li, td';

function* textsIn(element: HTMLElement): Generator<Text[]> {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let nodes: Text[] = [];
  let place: Node | undefined;
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    const next = node.parentElement?.closest(LINES) ?? node;
    if (next !== place && nodes.length > 0) {
      yield nodes;
      nodes = [];
    }
    place = next;
    nodes.push(node);
  }
  if (nodes.length > 0) yield nodes;
}

/** Some letters are longer in lower case: places in such a text would be wrong. */
function lowerCase({ data }: Text): string {
  const lower = data.toLowerCase();
  return lower.length === data.length ? lower : data;
}
