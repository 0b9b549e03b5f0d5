import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../contract/test/runs.ts';
import { buildTimeline } from './build.ts';
import { toHtml } from './html.ts';
import { imagesOf } from './images.ts';
import { toMarkdown, toMarkdownFile } from './markdown.ts';
import { call, entriesOf, result } from './test/events.ts';

const timeline = buildTimeline(
  entriesOf(
    ['user.message', { text: 'Fix it\nplease' }],
    call('a', 'Bash', { command: 'echo `date`' }),
    result('a', { isError: true }),
    call('b', 'Edit', { file_path: '/a.ts', old_string: 'a', new_string: 'b' }),
    ['record', { kind: 'x' }],
    ['assistant.message', { text: 'Done **now**' }],
    ['error', { text: 'Lost <it>' }],
    ['turn.finished', { reason: 'interrupted' }],
  ),
);

describe('as Markdown', () => {
  test('a session is a conversation with its calls, without records', () => {
    expect(toMarkdown(timeline.items)).toBe(
      [
        '> Fix it\n> please',
        '- **Bash**: `` echo `date` `` (failed)',
        '- **Edit**: `/a.ts`\n  - `/a.ts` +1 −1',
        'Done **now**',
        '**error** Lost \\<it\\>',
        '*interrupted*',
      ].join('\n\n'),
    );
  });
});

test('a file begins with facts about its session', () => {
  const head = [
    ['agent', 'Codex'],
    ['branch', 'a`b'],
    ['link', 'https://s.test/1'],
  ] as const;
  expect(toMarkdownFile('Fix\n[it](x)', head, timeline.items)).toMatch(
    /^# Fix \\\[it\\\]\(x\)\n\n- agent: `Codex`\n- branch: ``a`b``\n- link: <https:\/\/s\.test\/1>\n\n\*Not included: .*\*\n\n> Fix it\n/,
  );
  expect(toHtml(timeline, 'x', [['branch', '<b>']])).toContain('<dt>branch</dt><dd>&lt;b&gt;</dd>');
});

test('a repository or branch that only begins like an address is not a link', () => {
  const value = 'https://a.test/>![x](https://b.test/image.png)';
  expect(toMarkdownFile('A', [['Branch', value]], [])).toContain(`- Branch: \`${value}\``);
  expect(toMarkdownFile('A', [['Link', 'https://a.test/b']], [])).toContain('- Link: <https://a.test/b>');
});

test('a Markdown file with any text loads nothing in a viewer', () => {
  const pieces = [
    '```',
    '~~~',
    '\n',
    '\r',
    ' ',
    '   ',
    '> ',
    '- ',
    '1. ',
    '`',
    '![a](http://e.test/i)',
    '![a][r]',
    '<div>',
  ];
  const others = [
    '<img src=http://e.test>',
    '<!--',
    '-->',
    '<b style="x">',
    '\n[r]: http://e.test\n',
    'word',
    '<svg>',
    '\\',
  ];
  const text = fc
    .array(fc.constantFrom(...pieces, ...others), { minLength: 1, maxLength: 14 })
    .map((each) => each.join(''));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('user.message', 'assistant.message'), text), { minLength: 1, maxLength: 3 }),
      (said) => {
        const loads: string[] = [];
        const visit = ({ type, value = '', children = [] }: Node) => {
          if (/^image/.test(type) || (type === 'html' && /<(?:[a-z]\w*[\s/]|svg|!)/i.test(value))) loads.push(type);
          children.forEach(visit);
        };
        const file = toMarkdown(
          buildTimeline(
            entriesOf(...(said.map(([type, words]): [string, object] => [type, { text: `x${words}` }]) as never[])),
          ).items,
        );
        visit(fromMarkdown(file, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
        expect(loads).toEqual([]);
      },
    ),
    runs(400),
  );
});

interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

test('a cut text says how much is missing', () => {
  const { items } = buildTimeline(entriesOf(['assistant.message', { text: 'x'.repeat(30_000) }]));
  expect(toMarkdown(items)).toMatch(/^x{24000}\n\n\[… 6000 more characters\]$/);
});

describe('as a page', () => {
  test('a session is self-contained and runs no code', () => {
    const page = toHtml(timeline, 'A <title>', []);
    expect(page).toContain('<title>A &lt;title&gt;</title>');
    expect(page).toContain('Fix it\nplease');
    expect(page).toMatch(/class="call failed"><summary>Bash · echo `date`<\/summary><pre>done<\/pre>/);
    expect(page).not.toMatch(/<script|https?:/);
  });

  test('bidirectional controls are made visible, like in the dashboard', () => {
    const page = toHtml(buildTimeline(entriesOf(['user.message', { text: 'a\u202eb' }])), 'c\u2066d', []);
    expect(page).toContain('a⟨U+202E⟩b');
    expect(page).toContain('<title>c⟨U+2066⟩d</title>');
  });

  test('any content is shown as text', () => {
    const tags = (page: string) => page.match(/<[a-z/!][^>]*>/g);
    const words = fc.oneof(fc.string(), fc.constantFrom('<script>', '"><img src=x>', '</article>', "'", '&lt;'));
    const empty = tags(toHtml(buildTimeline(entriesOf(['user.message', { text: 'x' }])), 'x', []));
    fc.assert(
      fc.property(
        fc.array(words, { minLength: 1 }).map((each) => `x${each.join('')}`),
        (text) => {
          const page = toHtml(buildTimeline(entriesOf(['user.message', { text }])), text, []);
          expect(tags(page)).toEqual(empty);
        },
      ),
      runs(100),
    );
  });
});

describe('pictures of a payload', () => {
  const data = 'iVBORw0KGgo=';
  const address = `data:image/png;base64,${data}`;

  test.each([
    ['of Claude', { rest: { message: { content: [{ source: { type: 'base64', media_type: 'image/png', data } }] } } }],
    ['of MCP', { output: [{ type: 'image', mimeType: 'image/png', data }] }],
    ['of Codex', { rest: [{ type: 'input_image', image_url: address }] }],
  ])('%s are found', (_, payload) => {
    expect(imagesOf(payload)).toEqual([address]);
  });

  test.each([
    { mimeType: 'image/svg+xml', data },
    { mimeType: 'text/html', data },
    { mimeType: 'image/png', data: '"><script>' },
    'https://elsewhere.example/a.png',
    'data:image/svg+xml;base64,PHN2Zz4=',
    'data:text/html;base64,PHN2Zz4=',
    'javascript:alert(1)',
  ])('%j is not a picture', (value) => {
    expect(imagesOf({ value })).toEqual([]);
  });

  test('are limited, however many or deep they are', () => {
    expect(imagesOf(Array.from({ length: 100 }, () => address))).toHaveLength(8);
    let deep: unknown = address;
    for (let level = 0; level < 20_000; level++) deep = [deep];
    expect(imagesOf(deep)).toEqual([]);
    expect(imagesOf({ first: address, wide: Array.from({ length: 200_000 }, () => 0) })).toEqual([address]);
  });
});
