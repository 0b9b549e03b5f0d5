import { ImageOff } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { showHidden } from '../text/controls.ts';
import { Code } from './code.tsx';

const schema = { ...defaultSchema, protocols: { ...defaultSchema.protocols, href: ['http', 'https', 'mailto'] } };

/** Markdown that nobody vouches for: no HTML, no images from elsewhere, links that say where they lead. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown
        remarkPlugins={[remarkGfm, htmlAsText]}
        rehypePlugins={[[rehypeSanitize, schema]]}
        components={components}
      >
        {showHidden(text)}
      </ReactMarkdown>
    </div>
  );
});

interface MarkdownNode {
  type: string;
  value?: string;
  children?: MarkdownNode[];
}

/** HTML in Markdown is what somebody wrote: shown as such, neither obeyed nor left out. */
const htmlAsText = () => (tree: MarkdownNode) => {
  const visit = (node: MarkdownNode, isInline: boolean) => {
    if (node.type === 'html') Object.assign(node, isInline ? { type: 'text' } : { type: 'code', lang: 'html' });
    for (const child of node.children ?? []) visit(child, isInline || node.type === 'paragraph');
  };
  visit(tree, false);
};

const components: Components = {
  a: ({ href, children }) =>
    href && !href.startsWith('#') ? (
      <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ src, alt }) => (
    <span className="tag text-muted" title={typeof src === 'string' ? src.slice(0, 300) : undefined}>
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
