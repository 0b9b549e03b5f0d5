import { hash } from 'node:crypto';
import { isPart } from '../../contract/parts.ts';
import { writingOf } from '../../contract/revision.ts';
import type { Vocabulary } from '../../contract/transcript.ts';
import { type Counted, countWriting } from './revised.ts';

/** What is counted of a session while its events go by; the basis of the extension `listSessionSummaries`. */
export interface Summary extends Counted {
  firstPrompt?: string;
  model?: string;
  firstEventAt?: number;
  lastEventAt?: number;
  /** The response counted last: agents report one several times, and the largest figures count. */
  lastResponse?: { id: string; inputTokens: number; outputTokens: number };
}

export const emptySummary = (): Summary => ({
  prompts: 0,
  toolCalls: 0,
  failures: 0,
  redactions: 0,
  inputTokens: 0,
  outputTokens: 0,
});

const FIRST_PROMPT_LENGTH = 300;
const LONGEST_ID = 100;
const REDACTIONS = Buffer.from('"redactions":');
const FAILED = Buffer.from('"isError":true');
const EXIT_CODE = Buffer.from('"exitCode":');
const REVISION = Buffer.from('"revision":');

/**
 * Adds one event. Payloads come from anybody, so nothing of their shape is taken for granted; and most are large and of
 * no interest here, so one is parsed only where its type or a glance at its bytes promises something.
 */
export function addEvent(summary: Summary, eventType: string, bytes: Uint8Array): void {
  const payload = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = READERS[eventType];
  const redacted = payload.includes(REDACTIONS);
  const isTelling = redacted || payload.includes(REVISION);
  if (!read && !isTelling) return;
  if (eventType === 'tool.result' && !isTelling && !payload.includes(FAILED) && !payload.includes(EXIT_CODE)) return;
  const value: unknown = JSON.parse(payload.toString('utf8'));
  if (isPart(value)) {
    if (value.part === 1) countWriting(summary, value.source, () => countPart(summary, eventType));
    return;
  }
  const event = value as Partial<Record<string, unknown>>;
  countWriting(summary, event.source, () => {
    noteTime(summary, event.occurredAt);
    if (redacted) summary.redactions += sumCounts(event.redactions);
    read?.(summary, event);
  });
}

/** Of a payload in parts only that there is one is counted: to join them is the reader's business. */
function countPart(summary: Summary, eventType: string): void {
  if (eventType === 'tool.call') summary.toolCalls++;
  if (eventType === 'user.message') summary.prompts++;
}

type Reader = (summary: Summary, payload: Partial<Record<string, unknown>>) => void;

const READERS: Record<string, Reader | undefined> = Object.assign(Object.create(null) as Record<string, Reader>, {
  'user.message': (summary, { text }) => {
    summary.prompts++;
    const line = typeof text === 'string' ? text.trim().split('\n', 1)[0] : undefined;
    if (summary.firstPrompt === undefined && line) summary.firstPrompt = line.slice(0, FIRST_PROMPT_LENGTH);
  },
  'session.meta': noteModel,
  'tool.call': (summary) => {
    summary.toolCalls++;
  },
  'tool.result': (summary, { isError, exitCode }) => {
    if (isError === true || (typeof exitCode === 'number' && exitCode !== 0)) summary.failures++;
  },
  error: (summary) => {
    summary.failures++;
  },
  usage: (summary, payload) => {
    noteModel(summary, payload);
    addUsage(summary, payload as Partial<Vocabulary['usage']>);
  },
} satisfies Record<string, Reader>);

function noteModel(summary: Summary, { model }: Partial<Record<string, unknown>>): void {
  if (typeof model === 'string' && model !== '') summary.model = model.slice(0, 200);
}

function noteTime(summary: Summary, occurredAt: unknown): void {
  const time = typeof occurredAt === 'string' ? Date.parse(occurredAt) : Number.NaN;
  if (Number.isNaN(time)) return;
  summary.firstEventAt = Math.min(summary.firstEventAt ?? time, time);
  summary.lastEventAt = Math.max(summary.lastEventAt ?? time, time);
}

function addUsage(summary: Summary, usage: Partial<Vocabulary['usage']>): void {
  const cachedOnTop = usage.cached === 'excluded' ? count(usage.cacheReadTokens) + count(usage.cacheWriteTokens) : 0;
  const inputTokens = count(usage.inputTokens) + cachedOnTop;
  const outputTokens = count(usage.outputTokens);
  // What takes the place of an earlier writing counts in full: that one's tokens were taken off.
  const isRevised = writingOf(usage.source) !== undefined;
  const id = typeof usage.responseId === 'string' && !isRevised ? shortened(usage.responseId) : undefined;
  const before = id !== undefined && summary.lastResponse?.id === id ? summary.lastResponse : undefined;
  summary.inputTokens += Math.max(0, inputTokens - (before?.inputTokens ?? 0));
  summary.outputTokens += Math.max(0, outputTokens - (before?.outputTokens ?? 0));
  if (id === undefined) return;
  summary.lastResponse = {
    id,
    inputTokens: Math.max(inputTokens, before?.inputTokens ?? 0),
    outputTokens: Math.max(outputTokens, before?.outputTokens ?? 0),
  };
}

/** Agents' ids have up to 40 characters; what anybody sends may have 256 KiB, and stays with the summary. */
const shortened = (id: string) => (id.length <= LONGEST_ID ? id : hash('sha256', id, 'base64url'));

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;

const sumCounts = (counts: unknown): number =>
  typeof counts === 'object' && counts !== null
    ? Object.values(counts).reduce<number>((sum, value) => sum + count(value), 0)
    : 0;
