import { beforeKey } from './rules/private-key.ts';

/** Letters. A longer text is masked piece by piece: in a hostile text, every ninth letter begins a secret. */
export const MAX_PIECE = 1024 * 1024;
/** Where to cut a long text, the best first: after the last of these within so many letters before the limit. */
const CUTS = ['\n\n', '\n', ' ', ',', ';'];
const CUT_WITHIN = 65_536;

/** A secret that is cut in two nevertheless is found like a secret in two chunks. */
export function cutUp(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > MAX_PIECE) {
    const limit = from + MAX_PIECE;
    const window = text.slice(limit - CUT_WITHIN, limit);
    const cut = CUTS.find((each) => window.includes(each));
    const at = cut === undefined ? limit : limit - CUT_WITHIN + window.lastIndexOf(cut) + cut.length;
    const to = beforeKey(text, from, at);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return [...pieces, text.slice(from)];
}
