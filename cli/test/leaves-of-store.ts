import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import type { JsonObject } from '../agents/agent.ts';
import { isObject } from '../agents/shared/part.ts';
import { parseExact } from '../exact.ts';
import { copyDatabase } from './agents/corpus.ts';
import { compareLeaves, leavesOf } from './agents/leaves.ts';
import { type Captured, countedOf } from './by-file.ts';
import { type FileCheck, joined } from './leaves-of-file.ts';
import type { CorpusFile } from './worlds.ts';

/**
 * Checks that the events of a whole store file have all its content exactly once. Agents embed JSON in texts and wrap typed
 * texts in tags. Both sides are unfolded completely, so that it does not matter how much the parser unfolds. If a record has
 * several revisions, such as a running call, the latest one counts.
 */
export function checkStore(kept: CorpusFile, events: readonly Captured[]): FileCheck {
  const isText = kept.path.endsWith('.md');
  const content = isText ? wordsOf(readFileSync(kept.from, 'utf8')) : unfold(readContent(kept));
  const counted = joined(countedOf(events)).map(isText ? toWords : unfoldEvent);
  const { lost, doubled } = compareLeaves(content, counted);
  return {
    records: new Set(events.map(({ payload }) => `${payload.source.file} ${payload.source.position}`)).size,
    leaves: [...leavesOf(content)].length,
    problems: [...lost.map((leaf) => `lost ${leaf}`), ...doubled.map((leaf) => `doubled ${leaf}`)].map((each) =>
      each.slice(0, 160),
    ),
  };
}

const readContent = ({ agent, kind, from }: CorpusFile): unknown =>
  kind === 'database' ? rowsOf(from, agent.id) : parseExact(readFileSync(from, 'utf8'));

function unfoldEvent({ eventType, payload }: CapturedEvent): CapturedEvent {
  const fields = Object.entries(payload).map(([name, value]) => [name, name === 'source' ? value : unfold(value)]);
  const { rest, ...others } = Object.fromEntries(fields) as CapturedEvent['payload'];
  // In an export of OpenCode only the message has the time, and the parser copies it to the parts. Capture adds to a message of
  // a fork the session that the fork descends from.
  const { created: _, fork: __, ...kept } = isObject(rest) ? rest : {};
  return {
    eventType,
    payload: { ...others, ...(rest !== undefined && { rest: isObject(rest) ? kept : rest }) },
  } as CapturedEvent;
}

/** The words of an Aider history, without the marks of headings, prompts and output. */
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => !['', '#', '####', '>'].includes(word));

function toWords({ eventType, payload }: CapturedEvent): CapturedEvent {
  const {
    source,
    kind: _,
    occurredAt = '',
    rest,
    ...fields
  } = payload as CapturedEvent['payload'] & { kind?: string; rest?: JsonObject };
  const { kind: _kind, ...others } = rest ?? {};
  const texts = [...leavesOf([fields, others])].map((leaf) => JSON.parse(leaf) as unknown);
  const words = wordsOf([...texts.filter((text) => typeof text === 'string'), occurredAt].join(' '));
  return { eventType, payload: { source, rest: { words } } } as unknown as CapturedEvent;
}

const OF_OPENCODE = ['session_v2', 'session', 'message', 'part', 'todo', 'session_message', 'session_input'];

/** The rows of which version 2 of OpenCode keeps two: its own, and the one of version 1. */
const REPLACED: { [table: string]: string } = {
  session: 'WHERE id NOT IN (SELECT id FROM session_v2)',
  session_message: `AS m WHERE NOT EXISTS (SELECT 1 FROM message o
    WHERE o.session_id = m.session_id AND o.time_created = m.time_created)`,
};

/** The tables with sessions; the others have accounts, the program's own data, or repetitions. */
const TABLES: { [agent: string]: string[] } = {
  opencode: OF_OPENCODE,
  kilo: OF_OPENCODE,
  goose: ['sessions', 'messages', 'usage_ledger'],
};

function rowsOf(from: string, agent: string): unknown {
  const db = new DatabaseSync(copyDatabase(from), { readOnly: true });
  try {
    const has = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
    const tables = (TABLES[agent] ?? []).filter((table) => has.get(table) !== undefined);
    const removals = has.get('event') === undefined ? [] : db.prepare(REMOVALS).all();
    const rows = tables.flatMap((table) =>
      db.prepare(`SELECT * FROM "${table}" ${has.get('session_v2') ? (REPLACED[table] ?? '') : ''}`).all(),
    );
    return [...rows, ...removals];
  } finally {
    db.close();
  }
}

/** The only entries of the log of changes with information that no other table has. */
const REMOVALS = `SELECT * FROM event WHERE type LIKE '%removed%' OR type LIKE '%revert.committed%'
  OR type LIKE '%usage.recorded%' AND data LIKE '%"title"%'`;

const WRAPPED = /^<user_input mode="(\w*)">((?:(?!<\/?user_input)[\s\S])*)<\/user_input>$/;

function unfold(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unfold);
  if (typeof value === 'string') return unfoldText(value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unfold(inner)]));
}

function unfoldText(text: string): unknown {
  const [, mode, typed] = WRAPPED.exec(text) ?? [];
  if (typed !== undefined) return [mode, unfold(typed)];
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return unfold(parseExact(text));
  } catch {
    return text;
  }
}
