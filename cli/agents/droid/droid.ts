import { join } from 'node:path';
import type { Agent, JsonObject, Origin, TranscriptFile, Variables } from '../agent.ts';
import { headerOf, isUuid, keyOf, stemOf, toOrigin } from '../shared/identity.ts';
import { peekWords } from '../shared/part.ts';
import { parse } from './parse.ts';

/**
 * Droid writes a file per session, a record per line, append-only; messages are those of the Messages API, chained by
 * `id` and `parentId`. A sub-agent has a file of its own, whose first record names the session and the call that started
 * it. Nothing is said twice. Tokens are counted only for the whole session, in `<session>.settings.json`, which is one
 * document that is rewritten: not a transcript.
 */
export const droid: Agent = {
  id: 'droid',
  displayName: 'Droid',
  programs: ['droid'],
  variables: ['FACTORY_HOME_OVERRIDE'],
  folder,
  credentials: (variables, home) => [join(folder(variables, home), 'auth.json')],
  roots: (variables, home) => ['sessions', 'projects'].map((sessions) => join(folder(variables, home), sessions)),
  isTranscript: (path) => path.endsWith('.jsonl'),
  identify,
  recordKey: (record) => keyOf(record, 'id'),
  parse,
};

/** The variable replaces the home folder. */
function folder(variables: Variables, home: string): string {
  return join(variables.FACTORY_HOME_OVERRIDE || home, '.factory');
}

/** `<project>/<session>.jsonl`. */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const start = headerOf(first, 'session_start');
  const stem = stemOf(path);
  const own = isUuid(stem) ? stem : (peekWords(start, 'id') ?? stem);
  const caller = peekWords(start, 'callingSessionId');
  const isSubagent = caller !== undefined && caller !== own;
  const version = peekWords(start, 'version');
  return toOrigin({
    session: isSubagent ? caller : own,
    subagent: isSubagent ? own : undefined,
    // A number is the format's version.
    agentVersion: version?.includes('.') ? version : undefined,
    cwd: peekWords(start, 'cwd'),
  });
}
