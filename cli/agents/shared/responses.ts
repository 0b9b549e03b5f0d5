import type { Origin, RecordPlace } from '../agent.ts';
import { type Part, peek, peekText, peekWords } from './part.ts';

/**
 * The identity of a model's responses. Two reports with one `responseId` are one response, and its largest figures count. So an id that
 * two responses share loses tokens, and a response with two ids counts twice. Within a session, this table decides. Between
 * sessions, the `recordKey` of an agent decides: a record that a fork repeats is captured once.
 *
 * | agent          | a response is                          | because                                                        |
 * | -------------- | -------------------------------------- | -------------------------------------------------------------- |
 * | Claude Code    | the message, see `nameMessage`         | each block of a response is a record that repeats the usage    |
 * | Codex          | the running total, see `nameTotal`     | a count has no id, and is written again while nothing is used  |
 * | Copilot CLI    | the call of the API                    | the record of the call and the message both have its id        |
 * | pi             | the response or entry, see `nameEntry` | not every provider gives a response an id of its own           |
 * | Qwen Code      | the record                             | a record is one response, and has no other id                  |
 * | Gemini CLI     | the message                            | it is written again, under its id, when its tools have answered |
 * | Cline          | the message, or the time of a request  | a request is written again with its tokens when it is answered |
 * | Cursor         | the generation                         | the hooks of a turn repeat its sums                            |
 * | Goose          | the row of the ledger                  | a row is one response; messages are written again              |
 * | OpenCode, Kilo | the part `step-finish`                 | a row is one response; a later writing is a revision of it     |
 */

/** The ids that Anthropic, Bedrock and Vertex draw at random. */
const DRAWN = /^msg_(?:bdrk_|vrtx_)?01[A-Za-z0-9]{22}$/;

/** Versions 2.1.12 to 2.1.63 repeat a sub-agent's responses in progress records. */
const REPEATING = /^2\.1\.(?:1[2-9]|[2-5]\d|6[0-3])$/;

const PROMPT = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

/**
 * Names the response of a message of Anthropic's API. The id of the message suffices if the vendor drew it. A gateway between the agent
 * and the vendor may give all responses the same id, and mostly passes no id of the request. The counts of the prompt then tell
 * responses apart: they grow with the conversation, and all reports of a response have the same ones (none of 3,091
 * responses in real sessions differs), while the count of the output grows as the response is written. A sub-agent's response that
 * the session's own file repeats in a progress record is known by the id there.
 */
export function nameMessage(part: Part, { origin }: RecordPlace): string | undefined {
  const id = peekWords(part, 'message.id');
  const request = peekWords(part, 'requestId');
  const isRepeated = origin.subagent !== undefined && REPEATING.test(peekText(part, 'version') ?? '');
  if (id === undefined || isRepeated || (request !== undefined && DRAWN.test(id))) return id ?? request;
  const counts = PROMPT.map((name) => peek(part, ['message', 'usage', name]) ?? 0);
  return [id, request, counts.join('+')].filter((word) => word !== undefined).join(' ');
}

/** The thread of a Codex file. A sub-agent has its own thread, not the session's. */
export const threadOf = (origin: Origin): string => origin.subagent ?? origin.session;

/**
 * Names a response of Codex by the thread's running total after it. `token_count` has no id of the response and is repeated while
 * no tokens are used (224 of 3008 in real sessions). Since 0.169, `token_usage_record` repeats the count with the id. The totals
 * are equal in all of these, and grow in between.
 */
export function nameTotal({ origin }: RecordPlace, total: Part): string | undefined {
  const [input, output] = [peek(total, 'input_tokens'), peek(total, 'output_tokens')];
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  return `${threadOf(origin)}:${input}+${output}`;
}

/**
 * Whether a record of Codex is a copy from the thread that its own thread continues. Before 0.149, the file of a fork or a
 * sub-agent began with such copies, with their times or with the time of copying. The response counts where it was made.
 */
export function isCopied(part: Part, { origin: { copiedUntil } }: RecordPlace): boolean {
  if (copiedUntil === undefined || typeof peek(part, 'ordinal') === 'number') return false;
  return Date.parse(peekText(part, 'timestamp') ?? '') <= Date.parse(copiedUntil);
}

/**
 * Names a response of pi by the id that its provider gave it and the counts of the prompt, as for Claude Code. The id of an entry is
 * equal in a fork.
 */
export function nameEntry(part: Part): string | undefined {
  const id = peekWords(part, 'message.responseId');
  if (id === undefined) return peekText(part, 'id');
  const counts = ['input', 'cacheRead', 'cacheWrite'].map((name) => peek(part, ['message', 'usage', name]) ?? 0);
  return `${id} ${counts.join('+')}`;
}

/** Names a call of Copilot CLI: by the call of the API, if its provider gives it an id. */
export const nameCall = (part: Part): string | undefined =>
  peekWords(part, 'data.apiCallId', 'data.requestId', 'data.messageId');

/** Names a further response that a response reports: the advisor that it asked, or the compaction before it. */
export const nameFurther = (response: string | undefined, purpose: string, index: number): string | undefined =>
  response && `${response} ${purpose} ${index}`;
