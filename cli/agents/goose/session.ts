import type { JsonObject, Origin, RecordPlace, TranscriptFile } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { peekWords } from '../reader.ts';
import { type Path, peek, type Remainder, remainderOf } from '../remainder.ts';
import { peekText, takeInteger, takeSame, takeText } from '../typed.ts';

/** The first record is the session's; sub-agents have one of their own, with a parent. */
export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const remainder = remainderOf(first ?? {});
  const word = (name: string) => peekWords(remainder, 'sessions', name) ?? peekWords(remainder, 'summed', name);
  const id = word('id') ?? path.split('#')[1] ?? path.replace(/^.*\/|\.[^.]*$/g, '');
  const parent = peekWords(remainder, 'root') ?? word('parent_session_id');
  const cwd = word('working_dir') ?? peekWords(remainder, 'working_dir');
  return { session: parent ?? id, ...(parent !== undefined && { subagent: id }), ...(cwd !== undefined && { cwd }) };
}

export function readSession(remainder: Remainder, at: Path, { origin }: RecordPlace): Draft[] {
  takeSame(remainder, origin.session, 'root');
  const byPerson = [1, true].includes(peek(remainder, ...at, 'user_set_name') as never);
  const name = peekWords(remainder, ...at, 'name') === undefined ? 'description' : 'name';
  const isNamed = peekWords(remainder, ...at, name) !== undefined;
  const title = isNamed ? takeText(remainder, ...at, name) : undefined;
  return [
    draft('session.meta', {
      title,
      titleBy: title === undefined ? undefined : byPerson ? 'person' : 'agent',
      cwd: takeText(remainder, ...at, 'working_dir'),
      model: MODEL.map((path) => takeText(remainder, ...at, ...path)).find((model) => model !== undefined),
    }),
  ];
}

const MODEL: readonly Path[] = [
  ['model_config_json', 'model_name'],
  ['model_config', 'model_name'],
];

/** The totals of a session, in an export or from before there was a ledger. */
export function readSummed(remainder: Remainder, at: Path, place: RecordPlace): Draft[] {
  const drafts = readSession(remainder, at, place);
  const isNested = peek(remainder, ...at, 'accumulated_usage') !== undefined;
  const responseId = peekText(remainder, ...at, 'id') ?? place.origin.session;
  const usage = isNested
    ? readCounts(remainder, [...at, 'accumulated_usage'], '', responseId)
    : readCounts(remainder, at, 'accumulated_', responseId);
  return [...drafts, ...usage];
}

/** A response of the model. */
export const readLedger = (remainder: Remainder, at: Path): Draft[] =>
  readCounts(remainder, at, '', nameUsage(peek(remainder, ...at, 'id')));

function readCounts(remainder: Remainder, at: Path, prefix: string, responseId: string): Draft[] {
  const count = (...names: string[]) =>
    names.map((name) => takeInteger(remainder, ...at, prefix + name)).find((value) => value !== undefined);
  const counts = {
    inputTokens: count('input_tokens'),
    outputTokens: count('output_tokens'),
    cacheReadTokens: count('cache_read_tokens', 'cache_read_input_tokens'),
    cacheWriteTokens: count('cache_write_tokens', 'cache_write_input_tokens'),
    totalTokens: count('total_tokens'),
  };
  if (Object.values(counts).every((value) => value === undefined)) return [];
  const model = takeText(remainder, ...at, 'model');
  return [draft('usage', { responseId, model, ...counts, cached: 'included' })];
}

/** Rows have numbers; whatever else stands there is no name. */
export const nameUsage = (id: unknown): string =>
  typeof id === 'number' || typeof id === 'string' ? `usage ${id}` : 'usage';
