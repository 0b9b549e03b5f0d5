import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Agent, JsonObject } from '../../cli/agents/agent.ts';
import { aider } from '../../cli/agents/aider/aider.ts';
import { claudeCode } from '../../cli/agents/claude-code/claude-code.ts';
import { cline } from '../../cli/agents/cline/cline.ts';
import { codex } from '../../cli/agents/codex/codex.ts';
import { copilotCli } from '../../cli/agents/copilot-cli/copilot-cli.ts';
import { cursor } from '../../cli/agents/cursor/cursor.ts';
import { droid } from '../../cli/agents/droid/droid.ts';
import { geminiCli } from '../../cli/agents/gemini-cli/gemini-cli.ts';
import { kilo } from '../../cli/agents/kilo/kilo.ts';
import { opencode } from '../../cli/agents/opencode/opencode.ts';
import { pi } from '../../cli/agents/pi/pi.ts';
import { qwenCode } from '../../cli/agents/qwen-code/qwen-code.ts';
import { type Transcript, transcriptsBelow, transcriptsOf } from '../../cli/test/agents/corpus.ts';
import type { SessionEvent } from '../../contract/event.ts';
import { buildTimeline } from '../../dashboard/session/model/build.ts';
import { readOutcome } from '../../dashboard/session/model/outcome.ts';
import type { Entry } from '../../transcript/entry/entry.ts';
import { createLanes } from '../../transcript/entry/lanes.ts';
import { readEvent } from '../../transcript/entry/read.ts';
import { readRevisions } from '../../transcript/entry/revisions.ts';
import { type Facts, noFacts } from '../derive/facts.ts';
import { fold } from '../derive/fold.ts';
import {
  type Counted,
  countCopilot,
  countCursor,
  countDroid,
  countGemini,
  countPi,
  countQwen,
  isMain,
} from './truth-counts.ts';
import { countAider, countCline, countOpenCode } from './truth-counts-stored.ts';

/*
 * Figures of recorded sessions, counted from the agents' own records by a second reading that shares no code with the first. The
 * service and the page must both show these figures.
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

/** The part of the records' shape that the second reading below needs. */
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
  uuid?: string;
  parentUuid?: string | null;
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

const byPath = ({ path }: Transcript) => path;
const bySession = ({ origin }: Transcript) => origin.session;

/**
 * Sessions of the other agents are hand-written, and real ones if a collection of transcripts is beside the repository. Collected
 * files of one session may lack its id; `collected` gives the key that groups them.
 */
const OTHERS = [
  { agent: pi, count: countPi },
  { agent: droid, count: countDroid },
  { agent: qwenCode, count: countQwen },
  { agent: geminiCli, count: countGemini },
  { agent: copilotCli, count: countCopilot },
  { agent: cursor, count: countCursor },
  { agent: opencode, count: countOpenCode, collected: ({ file, origin }: Transcript) => `${file} ${origin.session}` },
  { agent: kilo, count: countOpenCode, isCounted: ({ file }: Transcript) => file.endsWith('.db') },
  {
    agent: cline,
    count: countCline,
    collected: bySession,
    isCounted: ({ path }: Transcript) => !path.startsWith('tasks/'),
  },
  { agent: aider, count: countAider, written: byPath },
];
const FIXTURES = fileURLToPath(new URL('../../cli/test/agents/fixtures', import.meta.url));

const ofOthers = OTHERS.flatMap(({ agent, count, isCounted = () => true, written = bySession, collected = byPath }) => {
  const fixtures = transcriptsBelow(agent, `${FIXTURES}/${agent.id}`).filter(isCounted);
  const groups = [Map.groupBy(fixtures, written), Map.groupBy(transcriptsOf(agent), collected)];
  return groups.flatMap((group) =>
    [...group.values()].map((files) => ({ agent, count, session: files[0]?.path, files })),
  );
});

/** Up to 1.0, Claude Code wrote sub-agents into the session's own file. */
const withSideChains = [...transcriptsBelow(claudeCode, `${FIXTURES}/claude-code`), ...transcriptsOf(claudeCode)]
  .filter((file) => isMain(file) && file.lines.some((line) => line.includes('"isSidechain":true')))
  // Leaves out files of single records without their ids.
  .filter(({ lines }) => !lines.some((line) => line.includes('"[trimmed for fixture]"')))
  .map((file) => ({ agent: claudeCode, count: countClaude, session: file.path, files: [file] }));

test.each([...ofOthers, ...withSideChains])(
  'the session $session of $agent.id has the figures of its records',
  ({ agent, count, files }) => {
    const entries = entriesOf(agent, files);
    const expected: Counted = count(files);
    const { subagents: _, ...figures } = expected;
    expect(pick(figuresOfService(entries), figures)).toEqual(figures);
    expect(pick(figuresOfPage(entries), expected)).toEqual(expected);
  },
);

/** Only those figures that the agent records. */
const pick = (figures: Partial<Figures>, expected: Counted) =>
  Object.fromEntries(Object.entries(figures).filter(([name]) => name in expected));

function entriesOf(agent: Agent, files: readonly Transcript[]): Entry[] {
  const known = new Set<string>();
  const events = files.flatMap(({ path, origin, lines }) =>
    lines.flatMap((line, position) => {
      const record = JSON.parse(line) as JsonObject;
      const key = agent.recordKey(record, { origin, file: path, position });
      if (key !== undefined && known.has(key)) return [];
      if (key !== undefined) known.add(key);
      return agent.parse(record, { origin, file: path, position });
    }),
  );
  const lanes = createLanes();
  return events.map(({ eventType, payload }, index) =>
    lanes.settle(
      readEvent({
        ...{ sequence: index + 1, eventType, createdAt: '2026-11-22T00:00:00.000Z' },
        payload: payload as SessionEvent['payload'],
      }),
    ),
  );
}

function factsOf(entries: readonly Entry[]): Facts {
  const facts = noFacts();
  const { standingAt } = readRevisions(entries);
  fold(facts, entries.flatMap(standingAt), () => undefined);
  return facts;
}

/** The service's figures, without sub-agents, which it does not count. */
function figuresOfService(entries: readonly Entry[]): Omit<Figures, 'subagents'> {
  const facts = factsOf(entries);
  const tokens = [...facts.days.values()].flatMap(({ models }) => [...models.values()]);
  const sum = (at: number) => tokens.reduce((total, of) => total + (of.tokens[at] ?? 0), 0);
  const { prompts, calls, failures, linesAdded: added, linesRemoved: removed, milestones } = facts;
  const compactions = milestones.filter(({ kind }) => kind === 'compaction').length;
  return { prompts, calls, failures, added, removed, compactions, input: sum(0), output: sum(4) };
}

function figuresOfPage(entries: readonly Entry[]): Figures {
  const timeline = buildTimeline(entries);
  const { prompts, toolCalls: calls, failures, usage } = timeline;
  const { changes } = readOutcome(timeline);
  return {
    ...{ prompts: prompts.length, calls, failures, subagents: timeline.lanes.length },
    ...{ added: changes?.added ?? 0, removed: changes?.removed ?? 0 },
    ...{ input: usage.total.input, output: usage.total.output },
    compactions: timeline.entries.filter(({ kind }) => kind === 'compaction').length,
  };
}

test('there are sessions of both agents, including one with sub-agents', () => {
  expect(new Set(sessions.map(({ name }) => name)).size).toBe(2);
  expect(sessions.length).toBeGreaterThan(6);
  expect(sessions.some(({ files, count }) => count(files).subagents > 0)).toBe(true);
});

describe.each(sessions)('the session $session of $name', ({ agent, files, count }) => {
  const expected = count(files);
  const entries = entriesOf(agent, files);

  test('gets its figures from the service', () => {
    const { subagents: _, ...figures } = expected;
    expect(figuresOfService(entries)).toEqual(figures);
  });

  test('gets its figures from the page, which knows its times', () => {
    expect(figuresOfPage(entries)).toEqual(expected);
    expect(buildTimeline(entries).hasTimes).toBe(true);
  });

  test('has the same turns in its facts and on its page', () => {
    const withoutSubagents = entries.filter(({ lane, chain }) => lane === undefined && !chain?.isSide);
    const ofPage = buildTimeline(withoutSubagents).turns.flatMap(({ prompt, calls, failures }) =>
      prompt ? [{ sequence: prompt.sequence, calls, failures }] : [],
    );
    expect(factsOf(entries).turns).toEqual(ofPage.slice(0, 200).map((turn) => expect.objectContaining(turn)));
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
  const ids = new Set(records.map(({ uuid }) => uuid));
  const beginsSideChain = ({ isSub, isSidechain, parentUuid }: ClaudeRecord) =>
    isSidechain === true && !isSub && !(parentUuid && ids.has(parentUuid));
  return {
    prompts: records.filter(isClaudePrompt).length,
    calls: new Set(blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)).size,
    failures: failed.size,
    input: sumOf([...responses.values()].map(({ input }) => input)),
    output: sumOf([...responses.values()].map(({ output }) => output)),
    added: sumOf(lines.map(({ added }) => added)),
    removed: sumOf(lines.map(({ removed }) => removed)),
    subagents: files.filter((file) => !isMain(file)).length + records.filter(beginsSideChain).length,
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
