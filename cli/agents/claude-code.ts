import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace, Variables } from './agent.ts';
import { readAssistant } from './claude-code/assistant.ts';
import { readAttachment } from './claude-code/attachment.ts';
import { identify, isTranscript } from './claude-code/origin.ts';
import { readRoot, SESSION_KINDS } from './claude-code/session.ts';
import { readProgress, readSystem } from './claude-code/system.ts';
import { readUser } from './claude-code/user.ts';
import { compose, type Draft, draft } from './compose.ts';
import { peek, type Remainder, remainderOf } from './remainder.ts';
import { peekText, takeFirstText, takeSame, takeText } from './typed.ts';

/**
 * Claude Code writes a file per session, a record per line, append-only; `uuid` and `parentUuid` chain the records. A
 * sub-agent has a file of its own. What is in which event:
 *
 * - `user`: a prompt, injected text, or tool results with the structured copy `toolUseResult`;
 * - `assistant`: one API response, one record per content block, the usage repeated on each: hence `usage.responseId`;
 * - `attachment`: what was put before the model besides the prompt; `system` and `progress`: what the person was told;
 * - kinds without `uuid` (titles, modes, …) are facts of the session and written again at every start.
 */
export const claudeCode: Agent = {
  id: 'claude-code',
  displayName: 'Claude Code',
  programs: ['claude'],
  variables: ['CLAUDE_CONFIG_DIR'],
  folder,
  credentials: (variables, home) => [
    ...['.credentials.json', 'settings.json', '.claude.json'].map((file) => join(folder(variables, home), file)),
    join(home, '.claude.json'),
  ],
  settings: {
    path: (variables, home) => join(folder(variables, home), 'settings.json'),
    findRetention: ({ cleanupPeriodDays: days }) => ({
      setting: 'cleanupPeriodDays',
      days: typeof days === 'number' ? days : DEFAULT_RETENTION_DAYS,
    }),
  },
  roots: (variables, home) => [join(folder(variables, home), 'projects')],
  isTranscript,
  identify,
  recordKey,
  parse,
};

type Reader = (remainder: Remainder, place: RecordPlace) => Draft[];

const DEFAULT_RETENTION_DAYS = 30;

function folder(variables: Variables, home: string): string {
  return variables.CLAUDE_CONFIG_DIR || join(home, '.claude');
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['user', readUser],
  ['assistant', readAssistant],
  ['system', readSystem],
  ['attachment', readAttachment],
  ['progress', readProgress],
  ...SESSION_KINDS,
]);

/** A fork replays the whole chain into a new file, with the same `uuid` and time but its own `sessionId`. */
function recordKey(record: JsonObject): string | undefined {
  const { uuid, type, timestamp } = record;
  if (typeof uuid !== 'string' || !UUID.test(uuid)) return undefined;
  // Type and time guard against an equality that would lose a record; a replay keeps both.
  return [uuid, type, timestamp].filter((part) => typeof part === 'string').join(' ');
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function parse(record: JsonObject, place: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const type = peekText(remainder, 'type');
  const drafts = READERS.get(type ?? '')?.(remainder, place) ?? [];
  if (peek(remainder, 'parentUuid') === null) drafts.push(...readRoot(remainder, place));
  if (drafts.length === 0) drafts.push(draft('record', { kind: type }));
  takeSame(remainder, place.origin.session, 'sessionId');
  takeSame(remainder, place.origin.subagent, 'agentId');
  const envelope = {
    agent: claudeCode.id,
    agentVersion: takeText(remainder, 'version'),
    record: takeText(remainder, 'uuid'),
    parent: takeText(remainder, 'parentUuid'),
    occurredAt: takeFirstText(remainder, ['timestamp'], ['snapshot', 'timestamp']),
  };
  return compose(remainder, place, envelope, drafts);
}
