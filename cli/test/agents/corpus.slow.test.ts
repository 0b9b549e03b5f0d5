import { describe, expect, test } from 'vitest';
import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { JsonObject } from '../../agents/agent.ts';
import { AGENTS } from '../../agents/all.ts';
import { transcriptsOf } from './corpus.ts';
import { compareLeaves } from './leaves.ts';

/** The largest percentage of records that may be of kinds unknown to the parsers. */
const UNKNOWN_PERCENT = 0.5;

/** Known kinds without information for a reader of the session: backups, logs of requests, counters, starts. */
const BOOKKEEPING = new Set([
  ...['file-history-snapshot', 'file-history-delta', 'api-request', 'api-request-blob', 'api-request-shape'],
  ...['atis-latch', 'tools-used', 'cost-state', 'task_started', 'inter_agent_communication_metadata'],
  ...['token_count', 'dynamic_tool_call_request', 'ghost_snapshot'],
  ...['hook.start', 'hook.end', 'assistant.turn_start', 'assistant.turn_end', 'session.usage_checkpoint'],
  ...['attribution_snapshot', 'file_history_snapshot', 'session_artifact_event', 'session_artifact_snapshot'],
  ...['ui_telemetry', 'custom', 'leaf', 'todo_state', '$set'],
  ...['step-start', 'patch', 'snapshot', 'assistant', 'todo'],
]);

// Some agents have no published sessions. Without a folder of transcripts beside the repository, no agent has any.
const collected = AGENTS.filter((agent) => transcriptsOf(agent).length > 0);
const isMissing = collected.length === 0;

describe.each((isMissing ? AGENTS : collected).map((agent) => ({ id: agent.id, agent })))(
  'real sessions of $id',
  ({ agent }) => {
    const transcripts = transcriptsOf(agent);

    const parsed = function* (): Generator<{ path: string; line: string; events: CapturedEvent[] }> {
      for (const { path, origin, lines } of transcripts) {
        for (const [index, line] of lines.entries()) {
          const place = { origin, file: `file of ${path}`, position: 9_007_199_254_000_000 + index };
          yield { path, line, events: agent.parse(JSON.parse(line) as JsonObject, place) };
        }
      }
    };

    test.skipIf(isMissing)(
      'give events with every leaf of their records exactly once',
      () => {
        const wrong: unknown[] = [];
        for (const { path, line, events } of parsed()) {
          const { lost, doubled } = compareLeaves(JSON.parse(line), events);
          if (lost.length + doubled.length > 0) wrong.push({ path, lost, doubled });
        }
        expect(wrong).toEqual([]);
      },
      120_000,
    );

    test.skipIf(isMissing)(
      'have few records of unknown kinds',
      () => {
        const unknown: string[] = [];
        let records = 0;
        for (const { events } of parsed()) {
          records++;
          const [event] = events;
          if (event?.eventType !== 'record') continue;
          const kind = event.payload.kind ?? '';
          if (!BOOKKEEPING.has(kind) && !kind.startsWith('duplicate:')) unknown.push(kind);
        }
        expect((100 * unknown.length) / records, unknown.join()).toBeLessThan(UNKNOWN_PERCENT);
      },
      120_000,
    );

    test.skipIf(isMissing)(
      'repeat a record key within a file only for the same content',
      () => {
        const different = transcripts.flatMap(({ path, origin, lines }) => {
          const known = new Map<string, string>();
          return lines.flatMap((line) => {
            const key = agent.recordKey(JSON.parse(line), { origin, file: path, position: 0 });
            if (key === undefined || HAND_MADE.test(path)) return [];
            const earlier = known.get(key);
            known.set(key, line);
            return earlier === undefined || earlier === line ? [] : [{ path, key }];
          });
        });
        expect(different).toEqual([]);
      },
      120_000,
    );

    test.skipIf(isMissing)(
      'give each prompt as exactly one event',
      () => {
        const prompts: string[] = [];
        const said: string[] = [];
        for (const { path, line, events } of parsed()) {
          if (HAND_MADE.test(path)) continue;
          const isInSubagent = events[0]?.payload.source.subagent !== undefined;
          if (!isInSubagent) prompts.push(...(PROMPTS[agent.id]?.(JSON.parse(line)) ?? []));
          for (const event of events) if (event.eventType === 'user.message') said.push(event.payload.text ?? '');
        }
        const sorted = (texts: string[]) => texts.filter((text) => text !== '').sort();
        expect(sorted(said)).toEqual(sorted(prompts));
      },
      120_000,
    );
  },
);

/** Transcripts that were merged or blanked for other programs' tests. */
const HAND_MADE = /Fixtures|fixtures|testdata/;

/** The fields of records that the second, naive reading below needs. */
interface Loose {
  type?: string;
  message?: { content?: string | (string | Block)[]; parts?: Block[]; role?: string };
  attachment?: { commandMode?: string; prompt?: string };
  isMeta?: boolean;
  isCompactSummary?: boolean;
  isSidechain?: boolean;
  origin?: { kind?: string };
  promptSource?: string;
  role?: string;
  content?: Block[];
  payload?: {
    type?: string;
    role?: string;
    content?: Block[];
    message?: string;
    item?: { type?: string; content: Block[] };
  };
  data?: { content?: string; source?: string };
  agentId?: string;
  user?: Block & { data?: Block };
}
type Block = { type?: string; text?: string; user_input?: object };

const INJECTED =
  /^\s*(<(command|local-command|bash|task-|ide_|system-)|Caveat:|\[Request interrupted|This session is being)/;

/** Finds the texts that a person typed by other means than the parsers use. */
const PROMPTS: { [agentId: string]: (record: Loose) => string[] } = {
  'claude-code': (record) => {
    const { type, message, attachment, origin } = record;
    const typed = (text: unknown) => typeof text === 'string' && !INJECTED.test(text);
    if (attachment?.commandMode === 'prompt') return [attachment.prompt ?? ''].filter(typed);
    if (type !== 'user' || record.isMeta || record.isCompactSummary || record.isSidechain) return [];
    if (record.promptSource === 'system' || (origin?.kind ?? 'human') !== 'human') return [];
    const blocks = [message?.content ?? []].flat();
    const texts = blocks.map((block) => (typeof block === 'string' ? block : block.type === 'text' && block.text));
    return texts.filter(typed) as string[];
  },
  codex: ({ type, role, content, payload }) => {
    if (type === 'event_msg' && payload?.type === 'user_message') return [payload.message ?? ''];
    const isBare = type === 'message' || (type === 'response_item' && payload?.type === undefined);
    const bare = isBare ? (payload ?? { role, content }) : undefined;
    if (bare?.role === 'user') return (bare.content ?? []).map((part) => part.text ?? '');
    const item = payload?.type === 'item_completed' ? payload.item : undefined;
    return item?.type === 'UserMessage' ? item.content.map((part) => part.text ?? '') : [];
  },
  cline: ({ role, content }) =>
    role === 'user' ? (content ?? []).filter((block) => block.user_input).map((block) => block.text ?? '') : [],
  'qwen-code': ({ type, message }) => (type === 'user' ? [message?.parts?.[0]?.text ?? ''] : []),
  'gemini-cli': ({ type, content }) => (type === 'user' ? (content ?? []).map((part) => part.text ?? '') : []),
  opencode: ({ user }) => (user ? [(user.data ?? user).text ?? ''] : []),
  pi: ({ type, message }) =>
    type === 'message' && message?.role === 'user'
      ? [message.content ?? []].flat().map((part) => (typeof part === 'string' ? part : (part.text ?? '')))
      : [],
  'copilot-cli': ({ type, data, agentId }) =>
    type === 'user.message' && agentId === undefined && !data?.source?.startsWith('skill') ? [data?.content ?? ''] : [],
};
