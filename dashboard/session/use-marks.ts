import { type RefObject, useEffect } from 'react';
import { parseWords } from '../../contract/query.ts';
import { useReading } from './reading.ts';

const NAME = 'found';
const MAX_MARKS = 2_000;

/** Highlights the words of the search wherever they are drawn, without changing the document. */
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
    /** The node of a character, and its position in the node. */
    const placeOf = (at: number): [Text, number] => {
      for (let node = nodes[index] as Text; ; node = nodes[++index] as Text) {
        if (at < start + node.length) return [node, at - start];
        start += node.length;
      }
    };
    for (let at = text.indexOf(term); at >= 0 && ranges.length < MAX_MARKS; at = text.indexOf(term, at + term.length)) {
      const range = new Range();
      range.setStart(...placeOf(at));
      const [last, place] = placeOf(at + term.length - 1);
      range.setEnd(last, place + 1);
      ranges.push(range);
    }
  }
  return ranges;
}

/** Elements in which a text is one for its reader, although it has pieces of several colours. */
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

/** Some letters are longer in lower case. Such a text stays as it is, since positions in it would be wrong. */
function lowerCase({ data }: Text): string {
  const lower = data.toLowerCase();
  return lower.length === data.length ? lower : data;
}
