import { dirname, isAbsolute, join } from 'node:path';
import type { Agent, JsonObject, Origin, TranscriptFile, Variables } from '../agent.ts';
import { headerOf, toOrigin } from '../shared/identity.ts';
import { peekWords } from '../shared/part.ts';
import { database } from './database.ts';
import { parserFor } from './parse.ts';
import { exported } from './records.ts';

/**
 * OpenCode keeps all sessions in a database, a row per session, message and part of a message, and changes the rows as it
 * goes on: each change is captured as a revision of the row. Sub-agents have sessions of their own, with a parent. Before
 * version 1.2 it kept a document per row; what it found of these it took over into the database. Not seen:
 * - what a row said between two looks, such as the output of a command that runs on;
 * - rows that were taken away, by versions that keep no log of events; items of a shorter list of things to do;
 * - that a session is a copy of another one: its rows have new ids, and nothing leads back.
 * Folders and program are named as the agent's id is; `variable` tells where a database may be told to be.
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
    // In the data folder itself: what else is there, such as copies of the projects' files, is not looked into.
    isTranscript: (path) => /^[^/]+\.db$/.test(path),
    entersFolder: () => false,
    // A session's path has its name behind the file's.
    store: (path) => (/\.db(#|$)/.test(path) ? database : exported),
    identify,
    recordKey: () => undefined,
    parse: parserFor(id),
  }) satisfies Agent;

const dataFolder = (variables: Variables, home: string): string =>
  variables.XDG_DATA_HOME || join(home, '.local', 'share');

function movedDatabase(variables: Variables, variable: string): string | undefined {
  const path = variables[variable];
  return path?.endsWith('.db') && isAbsolute(path) ? path : undefined;
}

/** The first record is the session's; a sub-agent has a session of its own, with a parent. */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const record = headerOf(first);
  const id = peekWords(record, 'session.id') ?? path.split('#')[1] ?? path.replace(/\.[^.]*$/, '');
  const parent = peekWords(record, 'root', 'session.parent_id', 'session.parentID');
  return toOrigin({
    session: parent ?? id,
    subagent: parent && id,
    agentVersion: peekWords(record, 'session.version'),
    cwd: peekWords(record, 'session.directory'),
  });
}

export const opencode: Agent = createOpenCode('opencode', 'OpenCode', 'OPENCODE_DB');
