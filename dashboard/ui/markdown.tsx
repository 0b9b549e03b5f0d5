import { ImageOff } from 'lucide-react';
import { memo, type ReactNode, useDeferredValue, useMemo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { showHidden } from '../text/controls.ts';
import { cutMarkdown, type MarkdownPiece } from '../text/markdown-pieces.ts';
import { Boundary } from './boundary.tsx';
import { Code } from './code.tsx';
import { destinationOf } from './link-host.ts';
import { limitMarkers, showAsWritten } from './markdown-limits.ts';
import { useShown } from './use-shown.tsx';

const schema = { ...defaultSchema, protocols: { ...defaultSchema.protocols, href: ['http', 'https', 'mailto'] } };

/** Characters shown at first. */
const FIRST = 24_000;
/** Characters of a piece, which is parsed in one go: the worst of so many take a tenth of a second. */
const PIECE = 4_000;

/** Markdown that nobody vouches for: no HTML, no images from elsewhere, links that say where they lead. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const { head, tail, more } = useShown(text, FIRST);
  return (
    <div className="prose">
      <Pieces text={head} />
      {more}
      {tail !== undefined && <Pieces text={tail} />}
    </div>
  );
});

/** The first thousands of characters at once, the others in the time that is left. */
function Pieces({ text }: { text: string }) {
  const pieces = useMemo(() => cutMarkdown(text, PIECE), [text]);
  const count = useDeferredValue(pieces.length, countAtOnce(pieces));
  return pieces.slice(0, count).map((piece, index) =>
    'code' in piece ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never move
      <Code key={index} code={piece.code} language={piece.language} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above
      <Piece key={index} text={piece.markdown} />
    ),
  );
}

function countAtOnce(pieces: readonly MarkdownPiece[]): number {
  let length = 0;
  const beyond = pieces.findIndex((piece) => {
    length += 'code' in piece ? piece.code.length : piece.markdown.length;
    return length > PIECE;
  });
  return beyond === -1 ? pieces.length : Math.max(1, beyond);
}

const Piece = memo(function Piece({ text }: { text: string }) {
  return (
    <Boundary of="This text" fallback={<p className="whitespace-pre-wrap">{showHidden(text)}</p>}>
      <ReactMarkdown
        remarkPlugins={[remarkGfm, limitMarkers, showAsWritten]}
        rehypePlugins={[[rehypeSanitize, schema]]}
        components={components}
      >
        {text}
      </ReactMarkdown>
    </Boundary>
  );
});

interface ElementNode {
  value?: string;
  children?: readonly ElementNode[];
}

const wordsOf = ({ value, children = [] }: ElementNode): string => value ?? children.map(wordsOf).join('');

const components: Components = {
  a: ({ href = '', node, children }) => {
    const leads = destinationOf(href, node ? wordsOf(node as ElementNode) : '');
    if (!leads) return <span>{children}</span>;
    return (
      <a href={leads.href} title={showHidden(leads.href)} target="_blank" rel="noopener noreferrer nofollow">
        {children}
        {leads.tell && <span className="link-host">{showHidden(leads.tell)}</span>}
      </a>
    );
  },
  img: ({ src, alt }) => (
    <span className="tag text-muted" title={typeof src === 'string' ? showHidden(src.slice(0, 300)) : undefined}>
      <ImageOff size={12} aria-hidden className="mr-1" />
      {alt || 'image'} (not loaded)
    </span>
  ),
  input: ({ checked }) => <span aria-hidden>{checked ? '☑ ' : '☐ '}</span>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables scroll, also by keyboard
    <div className="overflow-x-auto" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  h1: ({ children }) => <Heading>{children}</Heading>,
  h2: ({ children }) => <Heading>{children}</Heading>,
  h3: ({ children }) => <Heading>{children}</Heading>,
  h4: ({ children }) => <Heading>{children}</Heading>,
  h5: ({ children }) => <Heading>{children}</Heading>,
  h6: ({ children }) => <Heading>{children}</Heading>,
  pre: ({ children }) => children,
  code: ({ className, children }) => {
    const text = textOf(children);
    const language = /language-([\w.+-]+)/.exec(className ?? '')?.[1];
    const isBlock = language !== undefined || text.endsWith('\n');
    return isBlock ? <Code code={text.replace(/\n$/, '')} language={language ?? ''} /> : <code>{children}</code>;
  },
};

/** Headings of a transcript are not headings of the page. */
const Heading = ({ children }: { children: ReactNode }) => <p className="prose-heading">{children}</p>;

const textOf = (children: ReactNode): string =>
  Array.isArray(children) ? children.map(textOf).join('') : typeof children === 'string' ? children : '';
