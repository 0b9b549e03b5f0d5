import type { NewEvent } from '../../../contract/event.ts';
import { splitPayload } from '../../../transcript/parts.ts';
import { event } from './recording.ts';

/** An address that must never be requested. */
const ELSEWHERE = 'https://elsewhere.example';

/** Texts that would have effects if a page did not treat them as text. */
const MARKUP = [
  `<img src=x onerror="alert('image')">`,
  `<script>alert('script')</script>`,
  `<svg onload=alert('svg')><use href="${ELSEWHERE}/a.svg#b"/></svg>`,
  `<iframe src="${ELSEWHERE}/frame"></iframe><style>@import url(${ELSEWHERE}/style.css);</style>`,
  `<a href="javascript:alert('link')">a link of HTML</a>`,
  `<form action="${ELSEWHERE}"><input autofocus onfocus="alert('focus')"></form>`,
].join('\n\n');

const MARKDOWN = [
  `[a link that is a program](javascript:alert('link'))`,
  `[one in disguise](  JaVaScRiPt:alert('link'))`,
  `[a page of data](data:text/html,<script>alert('data')</script>)`,
  `![a picture](${ELSEWHERE}/picture.png)`,
  `![another][picture]\n\n[picture]: ${ELSEWHERE}/another.png`,
  `<${ELSEWHERE}/autolink>`,
  `| a | table |\n| - | - |\n| ![in a cell](//elsewhere.example/cell.png) | <b>bold</b> |`,
  `\`\`\`html\n${MARKUP}\n\`\`\``,
].join('\n\n');

const TERMINAL = [
  '\u001b[31mred\u001b[0m \u001b[2J\u001b[1;1Hcleared',
  '\u001b]0;a new title\u0007\u001b]8;;javascript:alert(1)\u0007a link of the terminal\u001b]8;;\u0007',
  '\u001b]52;c;ZXZpbA==\u0007\u001bP+q544e\u001b\\\u009b31mfrom C1',
  'loading 10 %\rloading 99 %\rloaded\u0008\u0008',
  '\u001b[999999999mno such colour\u001b[38;5;196mmany\u001b[',
].join('\n');

/** Bidirectional, hidden and invalid characters. */
const CHARACTERS = [
  'access = "user\u202e\u2066// Check if admin\u2069 \u2066"',
  'zero\u200bwidth\u200djoined\ufeff',
  'nul \u0000 and a lone half \ud800 of a pair',
  `${'e'}${'\u0301'.repeat(500)} piled up`,
  'التاريخ mixed עברית with words',
].join('\n');

/** Texts that cost a parser its stack or seconds. */
const DEEP = [
  '>'.repeat(3_000),
  '- '.repeat(1_500),
  '1. '.repeat(1_000),
  '*a_'.repeat(3_000),
  '['.repeat(8_000),
  `${'|a'.repeat(500)}|\n${'|-'.repeat(500)}|\n${'|\n'.repeat(500)}`,
].join('\n\n');

/** Links that look like other links. */
const DISGUISES = [
  'written backwards by an entity: &#x202e;gnihtyreve, and &#8203;hidden',
  '[https://github.com/login](https://evil.example/phish)',
  'https://github.com@evil.example and [here](//evil.example) and [there](/v1/me)',
  `a letter with ${'\u0301'.repeat(20_000)} marks`,
].join('\n\n');

const allOf = (text: string): NewEvent[] => [
  event('user.message', { text }),
  event('assistant.message', { text }),
  event('assistant.reasoning', { text }),
  event('context.message', { text, kind: text.slice(0, 40) }),
  event('tool.call', { callId: text.slice(0, 40), name: text.slice(0, 40), input: { command: text } }),
  event('tool.result', { callId: text.slice(0, 40), output: text, isError: true }),
  event('compaction', { summary: text, trigger: text }),
  event('notice', { text, kind: text.slice(0, 40) }),
  event('error', { text, kind: text.slice(0, 40) }),
  event('session.meta', { title: text, cwd: text, branch: text, model: text }),
  event('subagent.started', { subagent: text.slice(0, 40), description: text, agentType: text }),
  event('turn.finished', { reason: text }),
];

const edit = (path: string, line: string): NewEvent =>
  event('tool.call', { name: 'Edit', input: { file_path: path, old_string: line, new_string: `${line}\n${MARKUP}` } });

/** Payloads that no parser creates. */
const SHAPES: NewEvent[] = [
  ...['user.message', 'tool.call', 'tool.result', 'usage', 'session.meta', 'subagent.started', 'compaction'].map(
    (eventType) => ({ eventType, payload: {} }),
  ),
  { eventType: 'assistant.message' },
  { eventType: 'user.message', payload: { text: { not: 'text' }, occurredAt: 7, source: 'nowhere' } },
  { eventType: 'usage', payload: { inputTokens: -1, outputTokens: 1e308, cached: ['excluded'] } },
  {
    eventType: 'tool.result',
    payload: { output: [null, 1, { type: 'image' }, [['x']]], detail: { structuredPatch: [{}] } },
  },
  { eventType: 'tool.call', payload: { name: '__proto__', input: { __proto__: { polluted: true }, constructor: 1 } } },
  { eventType: 'tool.call', payload: { name: 'Edit', input: { file_path: 7, edits: 'none' } } },
  { eventType: 'user.message', payload: { part: 1, of: 999_999, json: '{"text":"lonely' } },
  { eventType: 'user.message', payload: { part: -4, of: 0, json: 9 } },
  { eventType: '__proto__', payload: { text: 'of an unknown type' } },
  { eventType: "<img src=x onerror=alert('type')>", payload: { text: MARKUP } },
  { eventType: 'vendor.something.new', payload: { deep: nest(100) } },
  { eventType: 'tool.result', payload: { output: nest(100), occurredAt: '+275760-09-13T00:00:00.001Z' } },
  { eventType: 'user.message', payload: { text: 'from year nought', occurredAt: '0000-01-01T00:00:00.000Z' } },
];

function nest(depth: number): unknown {
  return depth === 0 ? MARKUP : depth % 2 === 0 ? [nest(depth - 1)] : { inner: nest(depth - 1) };
}

/** A payload of any size, in as many events as it needs. */
function inParts(whole: NewEvent): NewEvent[] {
  const { source, ...others } = whole.payload as Record<string, unknown> & { source: never };
  const parts = splitPayload(source, JSON.stringify({ source, ...others }), 200_000);
  return parts.map((payload) => ({ eventType: whole.eventType, payload: { ...payload } }));
}

export const LONG_LINE_END = 'here-the-long-line-ends';

const BEFORE_LONG: readonly NewEvent[] = [
  ...[MARKUP, MARKDOWN, TERMINAL, CHARACTERS, DISGUISES, DEEP].flatMap(allOf),
  edit('src/<b>.ts', 'const a = 1;'),
  edit(`../../${'deep/'.repeat(200)}${CHARACTERS}`, CHARACTERS),
  ...SHAPES,
];

const LONG_RESULT = inParts(
  event('tool.result', { output: `${'0123456789'.repeat(500_000)} ${LONG_LINE_END}`, isError: true }),
);

/** The first events of a line of 5 MB and of a long message. */
export const LONG_RESULT_AT = BEFORE_LONG.length + 1;
export const LONG_MESSAGE_AT = LONG_RESULT_AT + LONG_RESULT.length;

export const HOSTILE: readonly NewEvent[] = [
  ...BEFORE_LONG,
  ...LONG_RESULT,
  ...inParts(event('assistant.message', { text: `${'many words '.repeat(30_000)} ${LONG_LINE_END}` })),
  ...inParts(
    event('tool.result', { output: Array.from({ length: 100_000 }, (_, index) => `line ${index}`).join('\n') }),
  ),
  ...inParts(event('assistant.message', { text: DEEP.repeat(20) })),
  event('user.message', { text: 'The last of them.' }),
];
