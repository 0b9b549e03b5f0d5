import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace, Variables } from './agent.ts';
import { compose, draft } from './compose.ts';
import { readAssistant } from './qwen-code/assistant.ts';
import { identify, isTranscript, withSubagent } from './qwen-code/origin.ts';
import { readRoot, SYSTEM_KINDS } from './qwen-code/system.ts';
import { readToolResult } from './qwen-code/tool-result.ts';
import { readUser } from './qwen-code/user.ts';
import { keyOf, type Reader } from './reader.ts';
import { peek, remainderOf } from './remainder.ts';
import { peekText, takeSame, takeText } from './typed.ts';

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
  isTranscript,
  identify,
  recordKey: (record) => keyOf(record, 'uuid'),
  parse,
};

function folder(variables: Variables, home: string): string {
  return variables.QWEN_HOME || join(home, '.qwen');
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['user', readUser],
  ['assistant', readAssistant],
  ['tool_result', readToolResult],
]);

const SYSTEM_READERS: ReadonlyMap<string, Reader> = new Map(SYSTEM_KINDS);

function parse(record: JsonObject, filePlace: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const place = withSubagent(remainder, filePlace);
  const type = peekText(remainder, 'type') ?? '';
  const subtype = peekText(remainder, 'subtype') ?? '';
  const read = type === 'system' ? SYSTEM_READERS.get(subtype) : READERS.get(type);
  const drafts = read?.(remainder, place) ?? [];
  if (peek(remainder, 'parentUuid') === null) drafts.push(...readRoot(remainder));
  if (drafts.length === 0) drafts.push(draft('record', { kind: subtype || type || undefined }));
  takeSame(remainder, place.origin.session, 'sessionId');
  takeSame(remainder, place.origin.subagent, 'agentId');
  const envelope = {
    agent: qwenCode.id,
    agentVersion: takeText(remainder, 'version'),
    record: takeText(remainder, 'uuid'),
    parent: takeText(remainder, 'parentUuid'),
    occurredAt: takeText(remainder, 'timestamp'),
  };
  return compose(remainder, place, envelope, drafts);
}
