import type { Span } from '../mark.ts';
import { isFiller, measureEntropy } from '../values.ts';

/** How tokens begin that nothing else begins with, written as they are. */
const PREFIXES = [
  'gh[pousr]_',
  'github_pat_',
  'gl(?:pat|dt|rt|ptt|oas|soat)-',
  'sk-(?:ant|proj|svcacct|admin|or-v1)-',
  '[sr]k_(?:live|test)_',
  'xox[abcdeprs]-',
  'hf_',
  'npm_',
  'pypi-',
  'dckr_[op]at_',
  'do[opr]_v1_',
  'shp(?:at|ca|pa|ss)_',
  'sntry[su]_',
  'gsk_',
  'xai-',
  'lin_api_',
  'ntn_',
  'figd_',
  'dapi',
  'hvs\\.',
  'SG\\.',
  'AIza',
  'ya29\\.',
  'GOCSPX-',
  'glsa_',
  'pscale_(?:tkn|pw)_',
];

const CUT = new RegExp(`(?<![A-Za-z0-9])(?:${PREFIXES.join('|')})([\\w.-]{10,250})$`);
const LONGEST = 270;

export const CUT_TOKEN = 'cut-token';

/**
 * The beginning of a token that the end of its text cuts off, as the end of a chunk does: too short for its rule, and
 * too much of it to be shown. The other half, in the next chunk, has nothing to be told by.
 */
export function findCutToken(text: string): Span | undefined {
  const last = text.charCodeAt(text.length - 1);
  if (!isTokenLetter(last)) return undefined;
  const from = Math.max(0, text.length - LONGEST);
  const match = CUT.exec(text.slice(from));
  const [token = '', rest = ''] = match ?? [];
  if (match === null || !/\d/.test(rest) || measureEntropy(rest) < 3 || isFiller(rest)) return undefined;
  return { start: from + match.index, end: text.length, rule: CUT_TOKEN, secret: token };
}

const isTokenLetter = (code: number) =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 45 || code === 95;
