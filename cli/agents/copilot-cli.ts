import { join } from 'node:path';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace, Variables } from './agent.ts';
import { compose, draft } from './compose.ts';
import { readHookEnd } from './copilot-cli/hook.ts';
import { MESSAGE_KINDS } from './copilot-cli/message.ts';
import { NOTICE_KINDS } from './copilot-cli/notice.ts';
import { identify, isTranscript, withSubagent } from './copilot-cli/origin.ts';
import { SESSION_KINDS } from './copilot-cli/session.ts';
import { SUBAGENT_KINDS } from './copilot-cli/subagent.ts';
import { TOOL_KINDS } from './copilot-cli/tool.ts';
import { USAGE_KINDS } from './copilot-cli/usage.ts';
import { keyOf, quiet, type Reader } from './reader.ts';
import { remainderOf } from './remainder.ts';
import { peekText, takeSame, takeText } from './typed.ts';

/**
 * Copilot CLI writes a file per session, a record per line, append-only, in batches; `id` and `parentId` chain them. The
 * records of sub-agents stand among those of the session. What several records say, and which of them the event is made
 * from:
 *
 * | fact           | the event is made from                   | the others become                                     |
 * | -------------- | ---------------------------------------- | ----------------------------------------------------- |
 * | prompt         | `user.message`: `content`                | `context.message`: the same as it was sent to the model |
 * | tool call      | `assistant.message`: `toolRequests`      | `record`, kind `duplicate:tool.execution_start`       |
 * | tool result    | `tool.execution_complete`                | –                                                     |
 * | usage          | `session.usage_record` and `assistant.message`, which share a `responseId`; see `usage.ts`       |
 * | hooks          | `hook.end` of one that failed or answered | `record`: half of all lines say that hooks ran       |
 */
export const copilotCli: Agent = {
  id: 'copilot-cli',
  displayName: 'Copilot CLI',
  programs: ['copilot'],
  variables: ['COPILOT_HOME'],
  folder,
  credentials: (variables, home) => [
    join(folder(variables, home), 'config.json'),
    ...['apps.json', 'hosts.json'].map((file) => join(home, '.config', 'github-copilot', file)),
  ],
  roots: (variables, home) => [join(folder(variables, home), 'session-state')],
  isTranscript,
  identify,
  recordKey: (record) => keyOf(record, 'id'),
  parse,
};

function folder(variables: Variables, home: string): string {
  return variables.COPILOT_HOME || join(home, '.copilot');
}

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...SESSION_KINDS,
  ...MESSAGE_KINDS,
  ...TOOL_KINDS,
  ...USAGE_KINDS,
  ...SUBAGENT_KINDS,
  ...NOTICE_KINDS,
  ['hook.start', quiet('hook.start')],
  ['hook.end', readHookEnd],
]);

function parse(record: JsonObject, filePlace: RecordPlace): CapturedEvent[] {
  const remainder = remainderOf(record);
  const type = peekText(remainder, 'type') ?? '';
  const place = withSubagent(remainder, filePlace, type);
  const drafts = READERS.get(type)?.(remainder, place) ?? [];
  if (drafts.length === 0) drafts.push(draft('record', { kind: type || undefined }));
  takeSame(remainder, place.origin.session, 'data', 'sessionId');
  const envelope = {
    agent: copilotCli.id,
    agentVersion: takeText(remainder, 'data', 'copilotVersion'),
    record: takeText(remainder, 'id'),
    parent: takeText(remainder, 'parentId'),
    occurredAt: takeText(remainder, 'timestamp'),
  };
  return compose(remainder, place, envelope, drafts);
}
