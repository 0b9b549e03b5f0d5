import { join } from 'node:path';
import type { Agent, JsonObject, Origin, TranscriptFile, Variables } from '../agent.ts';
import { headerOf, keyOf, stemOf, toOrigin, uuidAtEnd } from '../shared/identity.ts';
import { peekWords } from '../shared/part.ts';
import { parse } from './parse.ts';

/**
 * pi writes a file per session, an entry per line, append-only: a tree by `id` and `parentId`, whose branches all stay
 * in the file. A fork begins with a copy of its parent's entries. Nothing is said twice. The header's `version` is that
 * of the format; the program's own is nowhere.
 */
export const pi: Agent = {
  id: 'pi',
  displayName: 'pi',
  programs: ['pi'],
  variables: ['PI_CODING_AGENT_DIR', 'PI_CODING_AGENT_SESSION_DIR'],
  folder,
  credentials: (variables, home) => ['auth.json', 'models.json'].map((file) => join(folder(variables, home), file)),
  roots: (variables, home) => {
    const moved = variables.PI_CODING_AGENT_SESSION_DIR;
    const usual = join(folder(variables, home), 'sessions');
    return moved ? [moved, usual] : [usual];
  },
  isTranscript: (path) => path.endsWith('.jsonl'),
  identify,
  recordKey: (record) => keyOf(record, 'id'),
  parse,
};

function folder(variables: Variables, home: string): string {
  return variables.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent');
}

/** The header says the session, and so does the file's name: `<time>_<session>.jsonl`. A parent is named by its file. */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const header = headerOf(first, 'session');
  const parent = peekWords(header, 'parentSession', 'branchedFrom');
  return toOrigin({
    session: uuidAtEnd(stemOf(path)) ?? peekWords(header, 'id') ?? path.replace(/\.jsonl$/, ''),
    cwd: peekWords(header, 'cwd'),
    forkedFrom: parent && (uuidAtEnd(stemOf(parent)) ?? parent),
  });
}
