/** A list of consecutive secrets, such as recovery codes. */
interface List {
  /** One secret, with an optional number before it. */
  item: RegExp;
  /** Fewer secrets are not a list. */
  least: number;
}

const NUMBER = String.raw`(?:(?<![\w-])\d{1,2}[.):][ \t]{0,4})?`;
/** `a1b2c-d3e4f`, `4821 9034`, `k7m2p9qa`. */
const CODE = String.raw`(?<![\w-])(?:[a-z\d]{4,8}-[a-z\d]{4,8}|\d{4} \d{4}|(?=[a-z]{0,15}\d)[a-z\d]{8,16})(?![\w-])`;
const LISTS = {
  codes: { item: new RegExp(NUMBER + CODE, 'iy'), least: 4 },
  words: { item: /(?<![\w-])\d{1,2}(?:[.):][ \t]{0,4}|[ \t]{1,4})[a-z]{3,8}(?![\w-])/iy, least: 12 },
} as const satisfies Record<string, List>;

export type ListKind = keyof typeof LISTS;

/** The text between two items. */
const GAP = /(?:[\s"',;|*•[\]-]|\\{1,7}[nrt"]){1,24}/y;
/** The most letters between the name of a list and its first item. */
const MAX_LEAD = 160;
const MAX_ITEMS = 24;

/** The beginning and end of the list after a name that ends at `after`. Empty if no list follows. */
export function findList(kind: ListKind, text: string, after: number): readonly [start: number, end: number] {
  const { item, least } = LISTS[kind];
  for (let start = after; start < Math.min(text.length, after + MAX_LEAD); start++) {
    const end = endOfItem(item, text, start);
    if (end !== undefined) return readItems(item, least, text, start, end);
  }
  return [after, after];
}

function readItems(item: RegExp, least: number, text: string, start: number, first: number): readonly [number, number] {
  let end = first;
  let count = 1;
  for (let next: number | undefined = first; next !== undefined && count < MAX_ITEMS; count++) {
    GAP.lastIndex = end;
    next = GAP.test(text) ? endOfItem(item, text, GAP.lastIndex) : undefined;
    if (next === undefined) break;
    end = next;
  }
  const isList = count >= least && (item !== LISTS.codes.item || /\d/.test(text.slice(start, first)));
  return isList ? [start, end] : [start, start];
}

function endOfItem(item: RegExp, text: string, at: number): number | undefined {
  item.lastIndex = at;
  return item.test(text) ? item.lastIndex : undefined;
}
