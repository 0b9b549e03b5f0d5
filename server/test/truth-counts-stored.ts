import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Transcript } from '../../cli/test/agents/corpus.ts';
import { asList, asNumber, asObject, type Counted, isMain, type Loose, sumOf } from './truth-counts.ts';

/*
 * The same figures for agents that store databases and documents. They are counted from the files themselves, not from the
 * records that the readers make of them.
 */

const filesAmong = (files: readonly Transcript[]) => [...new Set(files.map(({ file }) => file))];
const readDocument = (path: string): Loose => asObject(JSON.parse(readFileSync(path, 'utf8')));

interface Row {
  session: unknown;
  message: unknown;
  data: Loose;
}

/** A session may have messages in the tables of both versions. */
export function countOpenCode(files: readonly Transcript[]): Counted {
  const [first, second] = [countOpenCode1(files), countOpenCode2(files)];
  const { subagents, ...figures } = first;
  const names = Object.keys(figures) as (keyof typeof figures)[];
  const sums = names.map((name) => [name, asNumber(first[name]) + asNumber(second[name])]);
  return { ...Object.fromEntries(sums), subagents };
}

/** Messages of version 2, without copies of those of version 1. */
function countOpenCode2(files: readonly Transcript[]): Counted {
  const { file, path } = files[0] as Transcript;
  if (!path.includes('.db#') || !tablesOf(file).has('session_v2')) return {};
  const subagents = new Set(files.flatMap(({ origin }) => origin.subagent ?? []));
  const wanted = new Set([...subagents, ...files.filter(isMain).map(({ origin }) => origin.session)]);
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = db
    .prepare(
      `SELECT session_id AS session, type, data FROM session_message WHERE json_valid(data)
      AND substr(id, 1, 8) NOT IN (SELECT id FROM message)`,
    )
    .all()
    .filter(({ session }) => wanted.has(String(session)))
    .map(({ session, type, data }) => ({ session, type, data: asObject(JSON.parse(String(data))) }));
  const titles = db
    .prepare(`SELECT aggregate_id AS session, data FROM event WHERE data LIKE '%"source":"title"%'`)
    .all()
    .filter(({ session }) => wanted.has(String(session)))
    .map(({ data }) => asObject(JSON.parse(String(data))));
  db.close();
  const ofType = (wanted: string) => rows.filter(({ type }) => type === wanted).map(({ data }) => data);
  const tools = ofType('assistant').flatMap(({ content }) => asList(content).filter(({ type }) => type === 'tool'));
  const shells = ofType('shell');
  const isFailed = ({ state }: Loose) =>
    asObject(state).status === 'error' || Boolean(asObject(asObject(state).metadata).exit);
  const errors = rows.flatMap(({ data }) => (data.error === undefined ? [] : [asObject(data.error).type]));
  const tokens = [...rows.map(({ data }) => data), ...titles].map(({ tokens }) => asObject(tokens));
  return {
    prompts: rows.filter(({ type, session }) => type === 'user' && !subagents.has(String(session))).length,
    calls: tools.length + shells.length,
    failures:
      tools.filter(isFailed).length +
      shells.filter(({ exit }) => Boolean(exit)).length +
      errors.filter((type) => type !== 'aborted').length +
      ofType('assistant').filter(({ retry }) => retry !== undefined).length,
    input: sumOf(
      tokens.flatMap(({ input, cache }) => [input, asObject(cache).read, asObject(cache).write].map(asNumber)),
    ),
    output: sumOf(tokens.flatMap(({ output, reasoning }) => [output, reasoning].map(asNumber))),
    compactions: ofType('compaction').filter(({ status }) => status === 'completed').length,
  };
}

function tablesOf(file: string): Set<unknown> {
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  db.close();
  return new Set(rows.map(({ name }) => name));
}

/** Tokens of thinking are billed as output, and are recorded separately from it. */
function countOpenCode1(files: readonly Transcript[]): Counted {
  const subagents = new Set(files.flatMap(({ origin }) => origin.subagent ?? []));
  const wanted = new Set([...subagents, ...files.filter(isMain).map(({ origin }) => origin.session)]);
  const { messages, parts } = rowsOf(files[0] as Transcript, wanted);
  const roles = new Map(messages.map(({ message, data }) => [message, data]));
  const partsOf = (wanted: string) => parts.filter(({ data }) => data.type === wanted);
  const texts = partsOf('text').filter(({ data }) => String(data.text ?? '').trim() !== '');
  const typed = texts.filter(
    ({ message, session, data }) =>
      roles.get(message)?.role === 'user' && !subagents.has(String(session)) && !data.synthetic && !data.ignored,
  );
  const tools = partsOf('tool').map(({ data }) => ({ ...asObject(data.state), tool: data.tool }) as Loose);
  const isFailed = ({ status, tool, metadata }: Loose) =>
    status === 'error' || (status === 'completed' && (tool === 'invalid' || Boolean(asObject(metadata).exit)));
  const errors = messages.flatMap(({ data }) => (data.error === undefined ? [] : [asObject(data.error).name]));
  const tokens = partsOf('step-finish').map(({ data }) => asObject(data.tokens));
  return {
    prompts: new Set(typed.map(({ message }) => message)).size,
    calls: tools.length,
    failures:
      tools.filter(isFailed).length +
      errors.filter((name) => name !== 'MessageAbortedError').length +
      partsOf('retry').length,
    input: sumOf(
      tokens.flatMap(({ input, cache }) => [input, asObject(cache).read, asObject(cache).write].map(asNumber)),
    ),
    output: sumOf(tokens.flatMap(({ output, reasoning }) => [output, reasoning].map(asNumber))),
    subagents: subagents.size,
    compactions: texts.filter(({ message }) => roles.get(message)?.summary === true).length,
  };
}

function rowsOf({ file }: Transcript, sessions: ReadonlySet<string>): { messages: Row[]; parts: Row[] } {
  if (!file.endsWith('.db')) return rowsOfExport(readDocument(file));
  const db = new DatabaseSync(file, { readOnly: true });
  const read = (table: string, message: string) =>
    db
      .prepare(`SELECT session_id AS session, ${message} AS message, data FROM ${table} WHERE json_valid(data)`)
      .all()
      .map(({ session, message, data }) => ({ session, message, data: asObject(JSON.parse(String(data))) }))
      .filter(({ session }) => sessions.has(String(session)));
  const rows = { messages: read('message', 'id'), parts: read('part', 'message_id') };
  db.close();
  return rows;
}

function rowsOfExport(document: Loose): { messages: Row[]; parts: Row[] } {
  const all = asList(document.messages).map(({ info, parts }) => ({ info: asObject(info), parts: asList(parts) }));
  const session = asObject(document.info).id;
  return {
    messages: all.map(({ info }) => ({ session, message: info.id, data: info })),
    parts: all.flatMap(({ info, parts }) => parts.map((data) => ({ session, message: info.id, data }))),
  };
}

/** Counts sessions of Cline's command line. After a compaction, a second file repeats messages. */
export function countCline(files: readonly Transcript[]): Counted {
  const messagesOf = (some: readonly Transcript[]) => {
    const all = filesAmong(some).flatMap((file) => asList(readDocument(file).messages));
    return [...new Map(all.map((message) => [message.id, message])).values()];
  };
  const messages = messagesOf(files);
  const blocksOf = ({ content }: Loose) =>
    typeof content === 'string' ? [{ type: 'text', text: content } as Loose] : asList(content);
  const blocks = messages.flatMap(blocksOf);
  const metrics = messages.map((message) => asObject(message.metrics));
  const isTyped = ({ type, text }: Loose) =>
    type === 'text' && !/^\s*<(?!user_input|user_command|task)/.test(String(text));
  const typed = messagesOf(files.filter(isMain)).filter(
    (message) =>
      message.role === 'user' &&
      (asObject(message.metadata).displayRole ?? 'user') === 'user' &&
      blocksOf(message).some(isTyped),
  );
  return {
    prompts: typed.length,
    calls: blocks.filter(({ type }) => type === 'tool_use').length,
    failures: blocks.filter((block) => block.type === 'tool_result' && block.is_error === true).length,
    input: sumOf(metrics.map(({ inputTokens }) => asNumber(inputTokens))),
    output: sumOf(metrics.map(({ outputTokens }) => asNumber(outputTokens))),
    subagents: new Set(files.flatMap(({ origin }) => origin.subagent ?? [])).size,
    compactions: messages.filter(({ metadata }) => asObject(metadata).kind === 'compaction_summary').length,
  };
}

/** A prompt is a run of marked lines, which newer versions end with two spaces. Tokens are not exact. */
export function countAider([run]: readonly Transcript[]): Counted {
  const { file, path } = run as Transcript;
  const [, time = '', nth = '1'] = /#(\d{4}(?:-\d\d){5})(?:-(\d+))?$/.exec(path) ?? [];
  const began = `# aider chat started at ${time.replace(/-(\d\d)-(\d\d)-(\d\d)$/, ' $1:$2:$3')}`;
  const runs = readFileSync(file, 'utf8').split(/^(?=# aider chat started at )/m);
  const text =
    runs.filter((run) => (time === '' ? !run.startsWith('#') : run.startsWith(began)))[Number(nth) - 1] ?? '';
  return { prompts: (text.match(/(?:^#### .* {2}\n)+/gm) ?? text.match(/(?:^#### .*\n)+/gm) ?? []).length };
}
