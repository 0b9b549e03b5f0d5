import { isDeepStrictEqual } from 'node:util';
import { getNodeValue, type Node } from 'jsonc-parser';
import type { HookEntry, MergedFile } from './agent-hooks.ts';
import { type Document, memberOf, parseDocument, propertyOf, Unparsable } from './document.ts';
import { insertItem, insertMember } from './insert.ts';
import { removeChild } from './remove.ts';

/** The path of a member we made, from the root. */
export type Made = readonly string[];

export interface Merged {
  text: string;
  /** The members that were not there before, in the order in which they were made. */
  made: Made[];
}

/** Whether a command line runs our hook. */
export type IsOurs = (command: string) => boolean;

/** Has our entries, and no older ones of ours, in the text. Throws `Unparsable` where that cannot be done. */
export function mergeHooks(
  text: string,
  { root = {}, entries }: Pick<MergedFile, 'root' | 'entries'>,
  isOurs: IsOurs,
): Merged {
  const made: Made[] = [];
  let current = dropStale(text.trim() === '' ? '{}\n' : text, entries, isOurs);
  for (const [name, value] of Object.entries(root)) {
    const document = parseDocument(current);
    if (memberOf(document.root, name) !== undefined) continue;
    current = insertMember(document, document.root, name, value);
    made.push([name]);
  }
  for (const entry of entries) current = addEntry(parseDocument(current), entry, made);
  return { text: current, made };
}

function addEntry(document: Document, { event, value }: HookEntry, made: Made[]): string {
  const hooks = memberOf(document.root, 'hooks');
  if (hooks === undefined) {
    made.push(['hooks'], ['hooks', event]);
    return insertMember(document, document.root, 'hooks', { [event]: [value] });
  }
  if (hooks.type !== 'object') throw new Unparsable('its "hooks" is no object');
  const list = memberOf(hooks, event);
  if (list === undefined) {
    made.push(['hooks', event]);
    return insertMember(document, hooks, event, [value]);
  }
  if (list.type !== 'array') throw new Unparsable(`its "hooks.${event}" is no list`);
  const isThere = list.children?.some((item) => isDeepStrictEqual(readValue(item), value));
  return isThere ? document.text : insertItem(document, list, value);
}

/** Takes out entries of ours that are not wanted as they are: those of an older version. */
function dropStale(text: string, entries: readonly HookEntry[], isOurs: IsOurs): string {
  const isWanted = ({ event, node }: Ours) =>
    entries.some((entry) => entry.event === event && isDeepStrictEqual(readValue(node), entry.value));
  return removeOurs(text, isOurs, (ours) => !isWanted(ours));
}

/** As JSON.parse makes it; jsonc-parser's objects have no prototype, which would count as a difference. */
const readValue = (node: Node): unknown => JSON.parse(JSON.stringify(getNodeValue(node)));

/** Takes out what is ours, and then the members that we made and nobody else filled. */
export function unmergeHooks(text: string, made: readonly Made[], isOurs: IsOurs): string {
  let current = removeOurs(text, isOurs, () => true);
  for (const path of [...made].sort((a, b) => b.length - a.length)) {
    const document = parseDocument(current);
    const [name = '', ...parents] = [...path].reverse();
    const parent = parents.reverse().reduce<Node | undefined>(memberOf, document.root);
    const property = propertyOf(parent, name);
    if (property && isBlank(document, property)) current = removeChild(document, property);
  }
  return current;
}

/** Whether an object or a list holds nothing, not even a comment. */
function isBlank({ text }: Document, property: Node): boolean {
  const value = property.children?.[1];
  if (value?.type !== 'object' && value?.type !== 'array') return false;
  return text.slice(value.offset + 1, value.offset + value.length - 1).trim() === '';
}

function removeOurs(text: string, isOurs: IsOurs, which: (ours: Ours) => boolean): string {
  let current = text;
  for (;;) {
    const document = parseDocument(current);
    const ours = findOurs(document, isOurs).find(which);
    if (ours === undefined) return current;
    current = removeChild(document, ours.node);
  }
}

export interface Ours {
  event: string;
  /** The whole group where it holds nothing else, else the handler in it. */
  node: Node;
}

/** Our entries in a document, wherever below `hooks` they are. */
export function findOurs({ root }: Document, isOurs: IsOurs): Ours[] {
  const events = memberOf(root, 'hooks')?.children ?? [];
  return events.flatMap(({ children: [name, list] = [] }) =>
    (list?.type === 'array' ? (list.children ?? []) : [])
      .flatMap((item) => findInItem(item, isOurs))
      .map((node) => ({ event: String(name?.value), node })),
  );
}

function findInItem(item: Node, isOurs: IsOurs): Node[] {
  if (isOurHandler(item, isOurs)) return [item];
  const handlers = memberOf(item, 'hooks')?.children ?? [];
  const ours = handlers.filter((handler) => isOurHandler(handler, isOurs));
  return ours.length > 0 && ours.length === handlers.length ? [item] : ours;
}

/** Where handlers have their command lines. */
const COMMANDS = ['command', 'bash', 'powershell'];

const isOurHandler = (handler: Node, isOurs: IsOurs): boolean =>
  COMMANDS.some((name) => {
    const command: unknown = memberOf(handler, name)?.value;
    return typeof command === 'string' && isOurs(command);
  });
