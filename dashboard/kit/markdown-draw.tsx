import { ImageOff } from 'lucide-react';
import type { Nodes, Parents, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { attention, labelStartImage, labelStartLink } from 'micromark-core-commonmark';
import { gfm } from 'micromark-extension-gfm';
import type { Extension } from 'micromark-util-types';
import { createElement, Fragment, type ReactNode } from 'react';
import { Code } from './code.tsx';
import { destinationOf } from './link-host.ts';
import { showHidden } from './text/controls.ts';

/** The most asterisks, underscores and brackets that may open or close an element in a piece of some thousand characters. */
const MAX_MARKERS = 1_000;
/** The most cells of a table. A row of two characters makes as many cells as the head has, so 10 kB can make millions. */
const MAX_CELLS = 4_000;
/** Elements that contain blocks. In all others, HTML is in the middle of a text. */
const BLOCK_PARENTS = new Set<Nodes['type']>(['root', 'blockquote', 'listItem', 'footnoteDefinition']);

/**
 * Parses and draws a Markdown text. It only creates the elements below, so no HTML has to be sanitized. HTML and definitions
 * of links are shown as they are written. Hidden characters are made visible, even if entities produce them.
 */
export function drawMarkdown(text: string): ReactNode {
  const tree = fromMarkdown(text, { extensions: [limitMarkers(), gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const addresses = addressesIn(tree);

  const written = ({ position }: Nodes) =>
    showHidden(text.slice(position?.start.offset ?? 0, position?.end.offset ?? 0));
  const within = ({ type, children }: Parents) => (children as Nodes[]).map((child) => draw(child, type));
  const as = (tag: string, node: Parents, props?: object) => createElement(tag, props ?? null, ...within(node));

  function draw(node: Nodes, inside: Nodes['type'] = 'root'): ReactNode {
    switch (node.type) {
      case 'root':
        return createElement(Fragment, null, ...within(node));
      case 'text':
        return showHidden(node.value);
      case 'paragraph':
        return as('p', node);
      case 'heading':
        // Headings of a transcript are not headings of the page.
        return as('p', node, { className: 'prose-heading' });
      case 'emphasis':
        return as('em', node);
      case 'strong':
        return as('strong', node);
      case 'delete':
        return as('del', node);
      case 'blockquote':
        return as('blockquote', node);
      case 'break':
        return <br />;
      case 'thematicBreak':
        return <hr />;
      case 'inlineCode':
        return <code>{showHidden(node.value)}</code>;
      case 'code':
        return <Code code={node.value} language={node.lang ?? ''} />;
      case 'html':
        return BLOCK_PARENTS.has(inside) ? <Code code={node.value} language="html" /> : showHidden(node.value);
      case 'definition':
        return <p>{written(node)}</p>;
      case 'link':
        return <Link href={node.url} words={wordsOf(node)} content={within(node)} />;
      case 'linkReference':
        return <Link href={addresses.get(node.identifier) ?? ''} words={wordsOf(node)} content={within(node)} />;
      case 'image':
        return <Picture address={node.url} words={node.alt} />;
      case 'imageReference':
        return <Picture address={addresses.get(node.identifier) ?? ''} words={node.alt} />;
      case 'list':
        return as(node.ordered ? 'ol' : 'ul', node, node.ordered && node.start !== 1 ? { start: node.start } : {});
      case 'listItem':
        return createElement(
          'li',
          typeof node.checked === 'boolean' ? { className: 'task' } : null,
          typeof node.checked === 'boolean' && <span aria-hidden>{node.checked ? '☑ ' : '☐ '}</span>,
          ...node.children.map((child) =>
            child.type === 'paragraph' && !node.spread
              ? createElement(Fragment, null, ...within(child))
              : draw(child, node.type),
          ),
        );
      case 'table':
        return cellsOf(node) > MAX_CELLS ? <Code code={written(node)} language="" /> : drawTable(node);
      case 'footnoteReference':
        return <sup>{showHidden(node.label ?? node.identifier)}</sup>;
      case 'footnoteDefinition':
        return createElement('div', null, <sup>{showHidden(node.label ?? node.identifier)}</sup>, ...within(node));
      default:
        return written(node);
    }
  }

  const drawTable = ({ children: [head, ...rows] }: Table) => {
    const row = (cells: Parents | undefined, tag: string) =>
      createElement('tr', null, ...((cells?.children ?? []) as Parents[]).map((cell) => as(tag, cell)));
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables scroll, also by keyboard
      <div className="overflow-x-auto" tabIndex={0}>
        <table>
          <thead>{row(head, 'th')}</thead>
          {createElement('tbody', null, ...rows.map((each) => row(each, 'td')))}
        </table>
      </div>
    );
  };

  return draw(tree);
}

type Construct = typeof attention;

/**
 * Limits the time to parse a piece. Pairing markers takes time with the square of their number, so after many they are plain
 * text.
 */
function limitMarkers(): Extension {
  let count = 0;
  const limited = (construct: Construct): Construct => ({
    ...construct,
    name: `${construct.name}Limited`,
    tokenize(effects, ok, nok) {
      return ++count > MAX_MARKERS ? nok : construct.tokenize.call(this, effects, ok, nok);
    },
  });
  const emphasis = limited(attention);
  return {
    text: { 33: limited(labelStartImage), 42: emphasis, 91: limited(labelStartLink), 95: emphasis },
    disable: { null: [attention, labelStartImage, labelStartLink].flatMap(({ name }) => name ?? []) },
  };
}

const cellsOf = ({ children: rows }: Table) => rows.length * (rows[0]?.children.length ?? 0);

/** The address of each definition, by its name. If a name is defined twice, the first definition counts. */
function addressesIn(node: Nodes, found = new Map<string, string>()): Map<string, string> {
  if (node.type === 'definition' && !found.has(node.identifier)) found.set(node.identifier, node.url);
  if ('children' in node) for (const child of node.children) addressesIn(child, found);
  return found;
}

const wordsOf = (node: Nodes): string =>
  'value' in node ? node.value : 'children' in node ? node.children.map(wordsOf).join('') : '';

function Link({ href, words, content }: { href: string; words: string; content: ReactNode[] }) {
  const leads = destinationOf(href, words);
  if (!leads) return createElement('span', null, ...content);
  const { href: address, tell } = leads;
  const props = { href: address, title: showHidden(address), target: '_blank', rel: 'noopener noreferrer nofollow' };
  return createElement('a', props, ...content, tell && <span className="link-host">{showHidden(tell)}</span>);
}

const Picture = ({ address, words }: { address: string; words: string | null | undefined }) => (
  <span className="tag text-muted" title={showHidden(address.slice(0, 300))}>
    <ImageOff size={12} aria-hidden className="mr-1" />
    {showHidden(words || 'image')} (not loaded)
  </span>
);
