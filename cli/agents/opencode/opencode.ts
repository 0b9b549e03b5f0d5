import { dirname, isAbsolute, join } from 'node:path';
import type { Agent, JsonObject, Origin, TranscriptFile, Variables } from '../agent.ts';
import { headerOf, keyWithContent, toOrigin } from '../shared/identity.ts';
import { isObject, peekWords } from '../shared/part.ts';
import { database } from './database.ts';
import { parserFor } from './parse.ts';
import { exported } from './records.ts';

/**
 * OpenCode keeps all sessions in a database. Version 1 has a row per session, message and part of a message; version 2 has
 * other tables, with a row per session and message, beside the tables of version 1. Both change the rows as they work: each
 * change is captured as a revision of the row. Sub-agents have sessions of their own, with a parent. Before version 1.2,
 * OpenCode kept a document per row; it moved those that it found into the database. Not captured:
 * - the content of a row between two looks, such as the output of a command that is still running;
 * - rows that were removed, in versions without a log of events; items that a shorter to-do list dropped; in version 2,
 *   prompts that wait in a queue, and the instructions that it keeps apart from messages;
 * - in version 1, that a session is a copy of another one: its rows have new ids and no reference to the original. Only the
 *   times show how old its messages are.
 * Folders and the program are named after the agent's id. `variable` may name the path of a database.
 */
export const createOpenCode = (id: 'opencode' | 'kilo', displayName: string, variable: string) =>
  ({
    id,
    displayName,
    programs: [id],
    variables: [variable, 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'],
    folder: (variables, home) => join(variables.XDG_CONFIG_HOME || join(home, '.config'), id),
    credentials: (variables, home) => [join(dataFolder(variables, home), id, 'auth.json')],
    roots: (variables, home) => {
      const own = join(dataFolder(variables, home), id);
      const moved = movedDatabase(variables, variable);
      return moved === undefined ? [own] : [dirname(moved), own];
    },
    // Only the data folder itself contains databases. Its subfolders, such as copies of the projects' files, are not searched.
    isTranscript: (path) => /^[^/]+\.db$/.test(path),
    isExport: (path) => /^[^/]+\.json$/.test(path),
    entersFolder: () => false,
    // The path of a session is the path of its file with its name appended.
    store: (path) => (/\.db(#|$)/.test(path) ? database : exported),
    identify,
    recordKey,
    restates: ({ fork }) => isObject(fork) && fork.isCopy === true,
    plainRecords: ['assistant', 'compaction', 'patch', 'session_input', 'step-start', 'text', 'todo', 'user'],
    parse: parserFor(id),
  }) satisfies Agent;

const dataFolder = (variables: Variables, home: string): string =>
  variables.XDG_DATA_HOME || join(home, '.local', 'share');

function movedDatabase(variables: Variables, variable: string): string | undefined {
  const path = variables[variable];
  return path?.endsWith('.db') && isAbsolute(path) ? path : undefined;
}

/** The first record is the session's. A sub-agent has its own session, with a parent. */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const record = headerOf(first);
  const id = peekWords(record, 'session.id') ?? path.split('#')[1] ?? path.replace(/\.[^.]*$/, '');
  const parent = peekWords(record, 'root', 'session.parent_id', 'session.parentID');
  return toOrigin({
    session: parent ?? id,
    subagent: parent && id,
    agentVersion: peekWords(record, 'session.version'),
    cwd: peekWords(record, 'session.directory'),
    forkedFrom: peekWords(record, 'session.fork_session_id'),
  });
}

/**
 * A fork of version 2 copies messages with their numbers and times, under ids of its own. All sessions that descend from the same
 * one by forks have its id in their keys, because numbers and times alone might meet in unrelated sessions.
 */
function recordKey({ v2, fork }: JsonObject): string | undefined {
  if (!isObject(v2)) return undefined;
  const { id: _, session_id: session, ...content } = v2;
  return keyWithContent(String(isObject(fork) ? fork.root : session), content);
}

export const opencode: Agent = createOpenCode('opencode', 'OpenCode', 'OPENCODE_DB');
