import { type Node, type ParseError, parseTree, visit } from 'jsonc-parser';

/** A JSON text, with comments and trailing commas if its owner likes them, as the tree of its values. */
export type Document = { text: string; root: Node };

/** Why a text cannot be edited. */
export class Unparsable extends Error {}

/** Throws `Unparsable` unless the text holds one JSON object. */
export function parseDocument(text: string): Document {
  const errors: ParseError[] = [];
  const root = parseWithin(text, errors);
  if (root === undefined || errors.length > 0) throw new Unparsable('it is not valid JSON');
  if (root.type !== 'object') throw new Unparsable('it does not hold a JSON object');
  return { text, root };
}

/** The parser calls itself for what is nested, and what reads its tree does the same. */
function parseWithin(text: string, errors: ParseError[]): Node | undefined {
  let depth = 0;
  let deepest = 0;
  const enter = () => {
    deepest = Math.max(deepest, ++depth);
    return deepest <= DEEPEST;
  };
  const leave = () => void depth--;
  try {
    visit(text, { onObjectBegin: enter, onArrayBegin: enter, onObjectEnd: leave, onArrayEnd: leave });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    deepest = Number.POSITIVE_INFINITY;
  }
  if (deepest > DEEPEST) throw new Unparsable('it is nested too deeply');
  return parseTree(text, errors, { allowTrailingComma: true });
}

/** Far more than settings are, and far less than the stack holds. */
const DEEPEST = 200;

/** The value of an object's member. Of members with one name the last counts, as in JSON.parse. */
export const memberOf = (object: Node | undefined, name: string): Node | undefined =>
  propertyOf(object, name)?.children?.[1];

/** The member itself, name and value. */
export const propertyOf = (object: Node | undefined, name: string): Node | undefined =>
  object?.type === 'object'
    ? object.children?.findLast((property) => property.children?.[0]?.value === name)
    : undefined;

export const endOf = ({ offset, length }: Node): number => offset + length;

/** A piece of text to stand where another was. */
export interface Edit {
  offset: number;
  length: number;
  content: string;
}

export function applyEdits(text: string, edits: readonly Edit[]): string {
  let edited = text;
  for (const { offset, length, content } of [...edits].sort((a, b) => b.offset - a.offset)) {
    edited = edited.slice(0, offset) + content + edited.slice(offset + length);
  }
  return edited;
}
