import { resolve } from 'node:path';
import { formatCount } from '../../contract/count.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { wantedFrom } from '../decide/periods.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatBytes } from '../output.ts';
import { tilde } from '../paths.ts';
import { openPolicy } from '../pipeline.ts';
import type { Consent } from '../privacy/consent.ts';
import type { Asker } from '../prompt.ts';
import { findUnread } from '../read/unread.ts';
import { openSpool } from '../spool/open.ts';

/** The sessions that agents have left on this machine so far, except those that a person excludes. */
export interface History {
  sessions: EarlierSession[];
  /** The size of all their transcripts. */
  bytes: number;
}

interface EarlierSession {
  agent: string;
  /** Undefined if the agent does not name one. */
  folder: string | undefined;
  /** Milliseconds since 1970. */
  startedAt: number;
}

/**
 * Reads the beginning of every transcript and writes nothing. Unreadable files are not counted, and neither are sessions that began
 * after capturing did.
 */
export function findHistory(context: Context): History {
  const sessions = new Map<string, EarlierSession>();
  // An empty spool knows no transcript, so all of them count as new.
  const spool = openSpool(':memory:');
  spool.copyDecisions(stateFolder(context));
  const policy = openPolicy(context, spool);
  policy.refresh();
  const since = spool.decisions.consent()?.since ?? Number.POSITIVE_INFINITY;
  const transcripts: { size: number; keys: string[] }[] = [];
  for (const { agent, size, sessions: all } of findUnread(context, spool, () => {})) {
    const wanted = all.filter(({ origin }) => policy.objection(agent.id, origin) === undefined);
    const keys: string[] = [];
    for (const { origin, startedAt } of wanted) {
      const key = `${agent.id} ${origin.session}`;
      const known = sessions.get(key);
      const folder = known?.folder ?? origin.cwd;
      const first = Math.min(known?.startedAt ?? startedAt, startedAt);
      sessions.set(key, { agent: agent.displayName, folder, startedAt: first });
      keys.push(key);
    }
    transcripts.push({ size, keys });
  }
  spool.close();
  // A sub-agent's transcript begins later than its session, so the beginnings of all transcripts are compared at the end.
  for (const [key, { startedAt }] of sessions) if (startedAt >= since) sessions.delete(key);
  const earlier = transcripts.filter(({ keys }) => keys.some((key) => sessions.has(key)));
  const bytes = earlier.reduce((sum, { size }) => sum + size, 0);
  return { sessions: [...sessions.values()], bytes };
}

/** `412 earlier sessions since 2025-03 (310 MB) in 38 folders: Claude Code 300, Codex 112`. */
export function describeHistory({ sessions, bytes }: History): string {
  const since = new Date(Math.min(...sessions.map(({ startedAt }) => startedAt))).toISOString().slice(0, 7);
  const count = formatCount(sessions.length, 'earlier session');
  const agents = countBy(sessions, ({ agent }) => agent).map(([agent, each]) => `${agent} ${each}`);
  const folders = formatCount(new Set(sessions.flatMap(({ folder }) => folder ?? [])).size, 'folder');
  return `${count} since ${since} (${formatBytes(bytes)}) in ${folders}: ${agents.join(', ')}`;
}

export type HistoryChoice = Consent['history'];

/** How many earlier sessions a choice allows. */
export const countChosen = ({ sessions }: History, history: HistoryChoice): number =>
  sessions.filter(({ folder }) => wantedFrom({ since: Number.POSITIVE_INFINITY, history }, folder) === 0).length;

/** The folders of a choice without any earlier session, for instance because of a typing error. */
export const findStrange = (history: History | undefined, choice: HistoryChoice | undefined): string[] =>
  history && Array.isArray(choice) ? choice.filter((folder) => countChosen(history, [folder]) === 0) : [];

/** Parses `--history`: `all`, `none`, or folders. Throws a `Failure` for a mixture. */
export function parseChoice(
  words: readonly string[],
  { home, folder }: Pick<Context, 'home' | 'folder'>,
): HistoryChoice {
  const [first] = words;
  if (words.length === 1 && (first === 'all' || first === 'none')) return first;
  if (words.includes('all') || words.includes('none')) {
    throw new Failure(
      EXIT.usage,
      '--history takes all, none, or folders.',
      'For a folder with such a name, write ./all or ./none.',
    );
  }
  if (words.includes(''))
    throw new Failure(EXIT.usage, 'A folder of --history is empty.', 'Check it; `.` is this folder.');
  return words.map((word) => resolve(folder, word.replace(/^~(?=$|[/\\])/, home)));
}

const MAX_LINES = 20;

/** Asks which of the earlier sessions may be sent. No answer, or nobody to ask, means none. */
export async function askChoice(
  history: History,
  asker: Asker | undefined,
  context: Pick<Context, 'home' | 'folder'>,
  say: (line: string) => void,
): Promise<HistoryChoice> {
  if (asker === undefined || history.sessions.length === 0) return 'none';
  const known = history.sessions.filter(({ folder }) => folder !== undefined);
  const folders = countBy(known, ({ folder }) => folder ?? '');
  const shown = folders.slice(0, MAX_LINES);
  for (const [index, [folder, count]] of shown.entries()) {
    say(`${String(index + 1).padStart(4)}  ${tilde(folder, context.home)}  (${formatCount(count, 'session')})`);
  }
  if (folders.length > shown.length) say(`      and ${folders.length - shown.length} more, by their paths`);
  const question = `${describeHistory(history)}.\nSend these too? [y/N, or a comma-separated list of numbers or folders]`;
  for (;;) {
    const answer = await asker.askText(question);
    if (/^(n|no)?$/i.test(answer)) return 'none';
    if (/^(y|yes)$/i.test(answer)) return 'all';
    const words = answer.split(',').map((word) => word.trim());
    const beyond = words.find((word) => /^\d+$/.test(word) && shown[Number(word) - 1] === undefined);
    if (beyond !== undefined) {
      say(`There is no number ${beyond}: the list has ${formatCount(shown.length, 'folder')}.`);
      continue;
    }
    const named = words.filter(Boolean).map((word) => shown[Number(word) - 1]?.[0] ?? word);
    const choice = parseChoice(named, context);
    const strange = findStrange(history, choice);
    if (strange.length === 0) return choice;
    say(`No earlier session was in ${strange.join(', ')}.`);
  }
}

function countBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): [name: string, count: number][] {
  const groups = [...Map.groupBy(items, nameOf)].map(([name, all]): [string, number] => [name, all.length]);
  return groups.sort(([, one], [, other]) => other - one);
}
