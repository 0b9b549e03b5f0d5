import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../cli/agents/agent.ts';
import { claudeCode } from '../../cli/agents/claude-code/claude-code.ts';
import { codex } from '../../cli/agents/codex/codex.ts';
import { type Transcript, transcriptsBelow } from '../../cli/test/agents/corpus.ts';
import { createLanes } from '../../contract/entry/lanes.ts';
import { readEvent } from '../../contract/entry/read.ts';
import type { SessionEvent } from '../../contract/event.ts';
import { buildTimeline } from '../../dashboard/session/model/build.ts';
import { readOutcome } from '../../dashboard/session/model/outcome.ts';
import { noFacts } from '../derive/facts.ts';
import { fold } from '../derive/fold.ts';

/*
 * The figures of recorded sessions, counted from the agents' own records by a second reading that shares no code with the
 * first: as the service derives them, and as the page shows them.
 */

interface Figures {
  prompts: number;
  calls: number;
  failures: number;
  input: number;
  output: number;
  added: number;
  removed: number;
  subagents: number;
  compactions: number;
}

/** As much of the records' shape as the second reading below needs. */
interface Block {
  type?: string;
  id?: string;
  tool_use_id?: string;
  is_error?: boolean;
  text?: string;
}
interface ClaudeResult {
  type?: string;
  content?: unknown;
  structuredPatch?: { lines: string[] }[];
}
interface ClaudeRecord {
  type?: string;
  subtype?: string;
  isSub: boolean;
  isMeta?: boolean;
  isSidechain?: boolean;
  isCompactSummary?: boolean;
  isApiErrorMessage?: boolean;
  origin?: { kind?: string };
  toolUseResult?: ClaudeResult;
  message?: {
    id: string;
    content?: string | Block[];
    usage?: {
      input_tokens: number;
      output_tokens: number;
      cache_read_input_tokens?: number;
      cache_creation_input_tokens?: number;
    };
  };
}
interface CodexChange {
  type?: string;
  content?: string;
  unified_diff?: string;
}
interface CodexItem {
  type?: string;
  exit_code?: number;
  changes?: Record<string, CodexChange>;
}
interface CodexRecord {
  type?: string;
  payload?: { type?: string; item?: CodexItem; usage?: { input_tokens: number; output_tokens: number } };
}

const SAMPLES = fileURLToPath(new URL('../../samples', import.meta.url));
const AGENTS = [
  { name: 'claude-code', agent: claudeCode, count: countClaude },
  { name: 'codex', agent: codex, count: countCodex },
];

const sessions = AGENTS.flatMap(({ name, agent, count }) =>
  [...Map.groupBy(transcriptsBelow(agent, `${SAMPLES}/${name}`), ({ origin }) => origin.session)].map(
    ([session, files]) => ({ name, session, agent, files, count }),
  ),
);

test('there are sessions of both agents, one with sub-agents among them', () => {
  expect(new Set(sessions.map(({ name }) => name)).size).toBe(2);
  expect(sessions.length).toBeGreaterThan(6);
  expect(sessions.some(({ files, count }) => count(files).subagents > 0)).toBe(true);
});

describe.each(sessions)('of the session $session of $name', ({ agent, files, count }) => {
  const expected = count(files);
  const events = files.flatMap(({ path, origin, lines }) =>
    lines.flatMap((line, position) => agent.parse(JSON.parse(line) as JsonObject, { origin, file: path, position })),
  );
  const lanes = createLanes();
  const entries = events.map(({ eventType, payload }, index) =>
    lanes.settle(
      readEvent({
        ...{ sequence: index + 1, eventType, createdAt: '2026-11-22T00:00:00.000Z' },
        payload: payload as SessionEvent['payload'],
      }),
    ),
  );

  test('the service derives the figures', () => {
    const facts = noFacts();
    fold(facts, entries);
    const tokens = [...facts.days.values()].flatMap(({ models }) => [...models.values()]);
    const sum = (at: number) => tokens.reduce((total, of) => total + (of[at] ?? 0), 0);
    const { prompts, calls, failures, linesAdded: added, linesRemoved: removed, milestones } = facts;
    const compactions = milestones.filter(({ kind }) => kind === 'compaction').length;
    const { subagents: _, ...figures } = expected;
    expect({ prompts, calls, failures, added, removed, compactions, input: sum(0), output: sum(3) }).toEqual(figures);
    expect(facts.first).toBeDefined();
  });

  test('the page shows the figures', () => {
    const timeline = buildTimeline(entries);
    const { prompts, toolCalls: calls, failures, usage, hasTimes } = timeline;
    const { changes } = readOutcome(timeline, []);
    expect({
      ...{ prompts: prompts.length, calls, failures, subagents: timeline.lanes.length },
      ...{ added: changes?.added ?? 0, removed: changes?.removed ?? 0 },
      ...{ input: usage.total.input, output: usage.total.output },
      compactions: timeline.entries.filter(({ kind }) => kind === 'compaction').length,
    }).toEqual(expected);
    expect(hasTimes).toBe(true);
  });
});

function countClaude(files: readonly Transcript[]): Figures {
  const records = files.flatMap(({ origin, lines }) =>
    lines.map((line): ClaudeRecord => ({ ...JSON.parse(line), isSub: origin.subagent !== undefined })),
  );
  const blocks = records.flatMap(({ message }) => (Array.isArray(message?.content) ? message.content : []));
  const responses = new Map<string, { input: number; output: number }>();
  for (const { type, message, isApiErrorMessage } of records) {
    if (type !== 'assistant' || !message?.usage || isApiErrorMessage) continue;
    const {
      input_tokens: fresh,
      cache_read_input_tokens: read = 0,
      cache_creation_input_tokens: made = 0,
    } = message.usage;
    const before = responses.get(message.id) ?? { input: 0, output: 0 };
    responses.set(message.id, {
      input: Math.max(before.input, fresh + read + made),
      output: Math.max(before.output, message.usage.output_tokens),
    });
  }
  const failed = new Set(
    blocks.filter((block) => block.type === 'tool_result' && block.is_error).map((b) => b.tool_use_id),
  );
  const lines = records.map(({ toolUseResult }) => countPatch(toolUseResult));
  return {
    prompts: records.filter(isClaudePrompt).length,
    calls: new Set(blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)).size,
    failures: failed.size,
    input: sumOf([...responses.values()].map(({ input }) => input)),
    output: sumOf([...responses.values()].map(({ output }) => output)),
    added: sumOf(lines.map(({ added }) => added)),
    removed: sumOf(lines.map(({ removed }) => removed)),
    subagents: files.filter(({ origin }) => origin.subagent !== undefined).length,
    compactions: records.filter(({ subtype }) => subtype === 'compact_boundary').length,
  };
}

function isClaudePrompt({
  type,
  message,
  isSub,
  isMeta,
  isSidechain,
  isCompactSummary,
  origin,
}: ClaudeRecord): boolean {
  if (type !== 'user' || isSub || isMeta || isSidechain || isCompactSummary) return false;
  if (origin !== undefined && origin.kind !== 'human') return false;
  const content = message?.content;
  const text = typeof content === 'string' ? content : content?.find((block) => block.type === 'text')?.text;
  const isTyped =
    text !== undefined && !/^\s*<(?!command-message>)/.test(text) && !text.startsWith('[Request interrupted');
  return isTyped && !text.startsWith('This session is being continued') && !text.startsWith('Caveat:');
}

function countPatch(result: ClaudeResult | undefined): { added: number; removed: number } {
  if (result?.type === 'create' && typeof result.content === 'string') {
    return { added: result.content.replace(/\n$/, '').split('\n').length, removed: 0 };
  }
  const lines: string[] = (result?.structuredPatch ?? []).flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter((line) => line[0] === '+').length,
    removed: lines.filter((line) => line[0] === '-').length,
  };
}

function countCodex(files: readonly Transcript[]): Figures {
  const perFile = files.map(({ origin, lines }) => ({
    origin,
    records: lines.map((line): CodexRecord => JSON.parse(line)),
  }));
  const records = perFile.flatMap(({ records }) => records);
  const calls = records.filter(
    ({ type, payload }) =>
      type === 'response_item' && /^(?:function|custom_tool|local_shell|web_search)_call$/.test(payload?.type ?? ''),
  );
  const completed = (type: string, among = records): CodexItem[] =>
    among.flatMap(({ payload }) => (payload?.item?.type === type ? [payload.item] : []));
  const main = perFile.filter(({ origin }) => origin.subagent === undefined).flatMap(({ records }) => records);
  const usage = records.flatMap(({ type, payload }) =>
    type === 'token_usage_record' && payload?.usage ? [payload.usage] : [],
  );
  const changed = completed('FileChange').flatMap(({ changes }) => Object.values(changes ?? {}).map(countCodexChange));
  return {
    prompts: completed('UserMessage', main).length,
    calls: calls.length,
    failures: completed('CommandExecution').filter(({ exit_code: code }) => code !== 0).length,
    input: sumOf(usage.map(({ input_tokens: tokens }) => tokens)),
    output: sumOf(usage.map(({ output_tokens: tokens }) => tokens)),
    added: sumOf(changed.map(({ added }) => added)),
    removed: sumOf(changed.map(({ removed }) => removed)),
    subagents: perFile.filter(({ origin }) => origin.subagent !== undefined).length,
    compactions: records.filter(({ type }) => type === 'compacted').length,
  };
}

function countCodexChange({ type, content, unified_diff: diff }: CodexChange): { added: number; removed: number } {
  const lines: string[] = (diff ?? content ?? '').replace(/\n$/, '').split('\n');
  if (type === 'add') return { added: lines.length, removed: 0 };
  const starting = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { added: starting('+'), removed: starting('-') };
}

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
