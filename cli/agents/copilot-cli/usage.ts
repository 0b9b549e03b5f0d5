import { type Draft, draft } from '../compose.ts';
import type { Readers } from '../reader.ts';
import { isObject, type Path, peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeInteger } from '../typed.ts';

/**
 * Since about 1.0.9x every model call has a record of its own. Before, a message says its output tokens, and the rest
 * was told in totals at the end. Input tokens include cached ones.
 */
export const USAGE_KINDS: Readers = [
  ['session.usage_record', (remainder) => readCall(remainder, ['data', 'usage'])],
  ['assistant.usage', (remainder) => readCall(remainder, ['data'])],
];

function readCall(remainder: Remainder, at: Path): Draft[] {
  const responseId = peekText(remainder, ...at, 'apiCallId');
  const model = peekText(remainder, ...at, 'model');
  const counts = { ...takeInputs(remainder, at), outputTokens: takeInteger(remainder, ...at, 'outputTokens') };
  return reportUsage(remainder, counts, responseId, model, at);
}

/** Of a message: shares its `responseId` with the call's own record, where there is one. */
export function readOutputTokens(remainder: Remainder, model: string | undefined): Draft[] {
  const outputTokens = takeInteger(remainder, 'data', 'outputTokens');
  const key = ['apiCallId', 'requestId', 'messageId'].find((key) => peekText(remainder, 'data', key));
  if (outputTokens === undefined) return [];
  const responseId = key && peekText(remainder, 'data', key);
  return [draft('usage', { responseId, model, outputTokens, cached: 'included' })];
}

/**
 * The totals at the end, by model, where no call has a record of its own: without the output tokens, which the messages
 * say. A session that goes on says them again, grown: the same start stands for the same count.
 */
export function readTotals(remainder: Remainder, session: string): Draft[] {
  const metrics = peek(remainder, 'data', 'modelMetrics');
  if (peek(remainder, 'data', 'accountingSnapshot') !== undefined || !isObject(metrics)) return [];
  const started = peek(remainder, 'data', 'sessionStartTime');
  return Object.keys(metrics).flatMap((model) => {
    const counts = takeInputs(remainder, ['data', 'modelMetrics', model, 'usage']);
    const responseId = [session, typeof started === 'number' ? started : '', model].join(' ');
    return isEmpty(counts) ? [] : [draft('usage', { responseId, model, ...counts, cached: 'included' })];
  });
}

type Counts = { [count: string]: number | undefined };

const takeInputs = (remainder: Remainder, at: Path): Counts => ({
  inputTokens: takeInteger(remainder, ...at, 'inputTokens'),
  cacheReadTokens: takeInteger(remainder, ...at, 'cacheReadTokens'),
  cacheWriteTokens: takeInteger(remainder, ...at, 'cacheWriteTokens'),
  reasoningTokens: takeInteger(remainder, ...at, 'reasoningTokens'),
});

const isEmpty = (counts: Counts): boolean => Object.values(counts).every((count) => count === undefined);

function reportUsage(
  remainder: Remainder,
  counts: Counts,
  responseId: string | undefined,
  model: string | undefined,
  at: Path,
): Draft[] {
  if (isEmpty(counts)) return [];
  if (responseId !== undefined) take(remainder, ...at, 'apiCallId');
  if (model !== undefined) take(remainder, ...at, 'model');
  return [draft('usage', { responseId, model, ...counts, cached: 'included' })];
}
