import { attention, labelStartImage, labelStartLink } from 'micromark-core-commonmark';
import { showHidden } from '../text/controls.ts';

/** Of asterisks, underscores and brackets that may begin or end something, in a piece of some thousand characters. */
const MOST_MARKERS = 1_000;
/** Of a table. A row of two characters stands for as many cells as its head has, so that 10 kB can mean millions. */
const MOST_CELLS = 4_000;

type Construct = typeof attention;
type Parser = ThisParameterType<Construct['tokenize']>['parser'];

/** Keeps parsing short: pairing markers takes time by the square of their number, so after many they are only text. */
export function limitMarkers(this: { data(): object }): void {
  const counts = new WeakMap<Parser, number>();
  const limited = (construct: Construct): Construct => ({
    ...construct,
    name: `${construct.name}Limited`,
    tokenize(effects, ok, nok) {
      const count = (counts.get(this.parser) ?? 0) + 1;
      counts.set(this.parser, count);
      return count > MOST_MARKERS ? nok : construct.tokenize.call(this, effects, ok, nok);
    },
  });
  const emphasis = limited(attention);
  const data = this.data() as { micromarkExtensions?: object[] };
  data.micromarkExtensions = [
    ...(data.micromarkExtensions ?? []),
    {
      text: { 33: limited(labelStartImage), 42: emphasis, 91: limited(labelStartLink), 95: emphasis },
      disable: { null: [attention, labelStartImage, labelStartLink].map(({ name }) => name) },
    },
  ];
}

interface MarkdownNode {
  type: string;
  value?: string;
  alt?: string | null;
  lang?: string | null;
  children?: MarkdownNode[] | undefined;
  position?: { start: { offset?: number }; end: { offset?: number } };
}

/**
 * What a parsed text may not do: hide characters, which entities write as well; hide words in HTML or in the definition of
 * a link, which are shown as they are written; have a table of countless cells.
 */
export const showAsWritten = () => (tree: MarkdownNode, file: { toString(): string }) => {
  const writtenAs = ({ position }: MarkdownNode) =>
    String(file).slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
  const visit = (node: MarkdownNode, isInline: boolean) => {
    if (node.type === 'html') Object.assign(node, isInline ? { type: 'text' } : { type: 'code', lang: 'html' });
    if (node.type === 'table' && cellsOf(node) > MOST_CELLS)
      Object.assign(node, { type: 'code', value: writtenAs(node), children: undefined });
    node.children = node.children?.flatMap((child) =>
      child.type === 'definition' ? [child, { type: 'paragraph', children: [textNode(writtenAs(child))] }] : child,
    );
    // Code is cleaned where it is shown, behind the highlighting.
    if (node.value !== undefined && node.type !== 'code') node.value = showHidden(node.value);
    if (node.alt) node.alt = showHidden(node.alt);
    for (const child of node.children ?? []) visit(child, isInline || node.type === 'paragraph');
  };
  visit(tree, false);
};

const textNode = (value: string): MarkdownNode => ({ type: 'text', value });

const cellsOf = ({ children: rows = [] }: MarkdownNode) => rows.length * (rows[0]?.children?.length ?? 0);
