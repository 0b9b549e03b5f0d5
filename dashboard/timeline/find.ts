import type { Entry } from '../../contract/entry/entry.ts';
import { childrenOf, entriesOf, type Item } from './items.ts';
import type { Place } from './rows.ts';

export type Match = Place & { sequence: number };

/** Every item in which the words are, folded ones included. Case does not matter. */
export function findText(items: readonly Item[], words: string): Match[] {
  if (words.trim() === '') return [];
  const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  const matches: Match[] = [];
  const visit = (item: Item, parents: readonly string[]) => {
    const entry = entriesOf(item).find((each) => textsOf(each).some((text) => pattern.test(text)));
    if (entry) matches.push({ key: item.key, parents, sequence: entry.sequence });
    const inside = [...parents, item.key];
    for (const child of childrenOf(item)) visit(child, inside);
  };
  for (const item of items) visit(item, []);
  return matches;
}

function textsOf(entry: Entry): readonly string[] {
  switch (entry.kind) {
    case 'call':
      return [entry.name, entry.about, ...entry.changes.map(({ path }) => path)];
    case 'result':
      return [entry.preview];
    case 'quiet':
      return [entry.about, entry.preview];
    case 'subagent':
      return [entry.description ?? '', entry.agentType ?? ''];
    case 'meta':
      return Object.values(entry.facts);
    default:
      return 'text' in entry ? [entry.text] : [];
  }
}
