import { join } from 'node:path';
import type { Agent, JsonObject, Origin, TranscriptFile, Variables } from '../agent.ts';
import { headerOf, isUuid, keyOf, stemOf, toOrigin } from '../shared/identity.ts';
import { peekWords } from '../shared/part.ts';
import { parse } from './parse.ts';

/**
 * Qwen Code writes a file per session, a record per line, append-only; `uuid` and `parentUuid` chain the records, and
 * messages have parts as Gemini's do. What two records say, and which of them the event is made from:
 *
 * | fact        | the event is made from            | the other becomes                                     |
 * | ----------- | --------------------------------- | ----------------------------------------------------- |
 * | prompt      | `user`: as typed, `displayText`   | `context.message`: the same as it was sent to the model |
 * | answer      | `assistant`                       | `record`, kind `duplicate:api_response`               |
 * | usage       | `assistant`                       | `record`, kind `duplicate:api_response`               |
 * | tool result | `tool_result`                     | `tool.result` with the duration, same `callId`        |
 */
export const qwenCode: Agent = {
  id: 'qwen-code',
  displayName: 'Qwen Code',
  programs: ['qwen'],
  variables: ['QWEN_HOME', 'QWEN_RUNTIME_DIR'],
  folder,
  credentials: (variables, home) =>
    ['oauth_creds.json', 'settings.json'].map((file) => join(folder(variables, home), file)),
  roots: (variables, home) => [join(variables.QWEN_RUNTIME_DIR || folder(variables, home), 'projects')],
  isTranscript: (path) => /(^|\/)(chats|subagents)\/.*\.jsonl$/.test(path),
  namesSession: ({ sessionId }, path) => typeof sessionId === 'string' || isUuid(stemOf(path)),
  identify,
  recordKey: (record) => keyOf(record, 'uuid'),
  parse,
};

function folder(variables: Variables, home: string): string {
  return variables.QWEN_HOME || join(home, '.qwen');
}

/** `<project>/chats/<session>.jsonl`; of sub-agents `<project>/subagents/<session>/agent-<id>.jsonl`. */
function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const record = headerOf(first);
  const stem = stemOf(path);
  const named = isUuid(stem) ? stem : undefined;
  return toOrigin({
    session: named ?? peekWords(record, 'sessionId') ?? stem,
    subagent: /^agent-(.+)$/.exec(stem)?.[1] ?? (named ? undefined : peekWords(record, 'agentId')),
    agentVersion: peekWords(record, 'version'),
    cwd: peekWords(record, 'cwd'),
    branch: peekWords(record, 'gitBranch'),
    forkedFrom: peekWords(record, 'forkedFrom.sessionId', 'forkedFrom'),
  });
}
