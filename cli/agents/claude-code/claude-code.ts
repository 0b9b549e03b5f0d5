import { join } from 'node:path';
import type { Agent, JsonObject, Origin, TranscriptFile, Variables } from '../agent.ts';
import { headerOf, isUuid, stemOf, toOrigin } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { isObject, partOf, peekText, peekWords } from '../shared/part.ts';
import { parse } from './parse.ts';
import { readPrompt } from './prompt-history.ts';
import { RESTORED } from './restored.ts';

const DEFAULT_RETENTION_DAYS = 30;

const places = locate({
  folder: '.claude',
  movedBy: 'CLAUDE_CONFIG_DIR',
  roots: ['projects'],
  credentials: ['.credentials.json', 'settings.json', '.claude.json'],
  credentialsAtHome: ['.claude.json'],
});

/**
 * Claude Code writes a file per session, a record per line, append-only; `uuid` and `parentUuid` chain the records. A
 * sub-agent has a file of its own. The contents of the events:
 *
 * - `user`: a prompt, injected text, or tool results with the structured copy `toolUseResult`;
 * - `assistant`: one API response, with one record per content block. Each repeats the usage, hence `usage.responseId`;
 * - `attachment`: context for the model besides the prompt; `system` and `progress`: messages to the person;
 * - kinds without `uuid` (titles, modes, …) are facts of the session. They are written again at every start.
 */
export const claudeCode: Agent = {
  id: 'claude-code',
  displayName: 'Claude Code',
  programs: ['claude'],
  ...places,
  variables: [...places.variables, 'APPDATA'],
  roots: (variables, home) => [...places.roots(variables, home), ...coworkFolders(variables, home)],
  settings: {
    path: places.inFolder('settings.json'),
    findRetention: ({ cleanupPeriodDays: days }) => ({
      setting: 'cleanupPeriodDays',
      days: typeof days === 'number' ? days : DEFAULT_RETENTION_DAYS,
    }),
  },
  isTranscript,
  namesSession: ({ sessionId }, path) => typeof sessionId === 'string' || isUuid(stemOf(path)),
  endsSession,
  identify,
  sessionOf: (record) => peekWords(partOf(record), 'forkedFrom.sessionId', 'sessionId'),
  plainRecords: [
    'api-request',
    'api-request-blob',
    'api-request-shape',
    'atis-latch',
    'cost-state',
    'file-history-delta',
    'file-history-snapshot',
    'tools-used',
  ],
  recordKey,
  readPrompt,
  restates: ({ isCompactSummary, type }) => isCompactSummary === true || type === 'summary' || type === 'last-prompt',
  bearsEarlierTime: ({ isSnapshotUpdate }) => isSnapshotUpdate === true,
  restored: RESTORED,
  continuation: {
    path: (session, folder) => `${folder.replace(/[^A-Za-z0-9]/g, '-')}/${session}.jsonl`,
    command: (session) => ['claude', '--resume', session],
    mark: (record, original) =>
      typeof record.uuid === 'string'
        ? { ...record, forkedFrom: { sessionId: original, messageUuid: record.uuid } }
        : record,
  },
  parse,
};

/**
 * Claude Cowork runs Claude Code in a machine of its own, and keeps its folder in
 * `<account>/<organization>/local_<id>/.claude` of one of these.
 */
const coworkFolders = ({ APPDATA }: Variables, home: string): string[] =>
  [join(home, 'Library', 'Application Support'), join(home, '.config'), APPDATA].flatMap((folder) =>
    folder ? [join(folder, 'Claude', 'local-agent-mode-sessions')] : [],
  );

/**
 * `<project>/<session>.jsonl`. Below it are `<session>/subagents/agent-<id>.jsonl`, and `…/workflows/<run>/agent-<id>.jsonl`
 * with its `journal.jsonl`. Beside a sub-agent's file is `agent-<id>.meta.json`, one document that is rewritten, so it is not
 * a transcript. `tool-results/` has output that was too long for the transcript. The `audit.jsonl` of Cowork repeats a session
 * in another form, with fewer tokens.
 */
function isTranscript(path: string): boolean {
  return (
    path.endsWith('.jsonl') && !path.includes('/tool-results/') && !/(?:^|\/)local_[^/]*\/audit\.jsonl$/.test(path)
  );
}

/** Session files are named after their session. In a fork, the records may still name the forked session. */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const record = headerOf(first);
  const stem = stemOf(path);
  const parent = /([^/]+)\/subagents\//.exec(path)?.[1];
  const named = peekWords(record, 'sessionId');
  const own = isUuid(stem) ? stem : named;
  const isFork = parent === undefined && named !== undefined && isUuid(named) && named !== own;
  return toOrigin({
    session: parent ?? own ?? path.slice(0, -'.jsonl'.length),
    subagent: /^agent-(.+)$/.exec(stem)?.[1],
    agentVersion: peekWords(record, 'version'),
    cwd: peekWords(record, 'cwd'),
    branch: peekWords(record, 'gitBranch'),
    forkedFrom: peekWords(record, 'forkedFrom.sessionId') ?? (isFork ? named : undefined),
  });
}

/** Recognises the commands that a person types to leave. The program puts them into a tag. */
function endsSession(record: JsonObject): boolean {
  const text = record.type === 'user' ? peekText(partOf(record), 'message.content') : undefined;
  return text !== undefined && /^\s*<command-name>\/(exit|quit)<\/command-name>/.test(text);
}

/**
 * A fork replays the whole chain into a new file. The copies keep the time, if any, and get the fork's `sessionId`. They keep the
 * `uuid`, or get a new one and name the old one in `forkedFrom`, as the Agent SDK does.
 */
function recordKey({ uuid, type, timestamp, forkedFrom }: JsonObject): string | undefined {
  const original = isObject(forkedFrom) && typeof forkedFrom.messageUuid === 'string' ? forkedFrom.messageUuid : uuid;
  if (typeof original !== 'string' || !isUuid(original)) return undefined;
  // Type and time guard against a false match that would lose a record. A replay keeps both.
  return [original, type, timestamp].filter((part) => typeof part === 'string').join(' ');
}
