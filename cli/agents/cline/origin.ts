import { basename, dirname, join } from 'node:path';
import type { JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { peekWords } from '../reader.ts';
import { remainderOf } from '../remainder.ts';

/** `<id>/<id>.json` and its messages; in a folder that is handed in alone, what lies in it. */
export const isSessionFile = (path: string): boolean =>
  /\.(messages|compaction)\.json$/.test(path) || /(^|\/)([^/]+)\/\2\.json$/.test(path);

/** A sub-agent's or a teammate's id is its parent's with its own behind; its file lies in the parent's folder. */
export function identifySession({ root, path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const header = remainderOf(first ?? {});
  const named = peekWords(header, 'session_id') ?? peekWords(header, 'sessionId') ?? pathId(join(root, path));
  const [, session = named, subagent] = /^(.+?)__(.+)$/.exec(named) ?? [];
  const facts = {
    subagent,
    agentVersion:
      peekWords(header, 'origin', 'version') ?? peekWords(header, 'metadata', 'sessionHistoryOrigin', 'version'),
    cwd: peekWords(header, 'cwd'),
    branch: peekWords(header, 'metadata', 'git', 'branch'),
    forkedFrom: peekWords(header, 'metadata', 'fork', 'forkedFromSessionId'),
  };
  const present = Object.entries(facts).filter(([, value]) => value !== undefined);
  return { session, ...Object.fromEntries(present) };
}

function pathId(path: string): string {
  const stem = basename(path).replace(/(\.messages|\.compaction)?\.json$/, '');
  const folder = basename(dirname(path));
  // `<session>/<sub-agent>.messages.json`; a file that is alone somewhere else is named after its session.
  return stem === folder || !/^\d{13}_/.test(folder) ? stem : `${folder}__${stem}`;
}
