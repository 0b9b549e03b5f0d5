import type { JsonObject, RestoredForm } from '../agent.ts';
import { isObject, partOf, peek, peekText } from '../shared/part.ts';

/** Kinds that do not name their session. */
const WITHOUT_SESSION = new Set(['summary', 'file-history-snapshot', 'started', 'result']);

/** Where the text of a kind of record is, if its parser looks at several places. */
const PLACES: { readonly [kind: string]: readonly string[] } = {
  'file-history-snapshot': ['snapshot.timestamp'],
  hook_progress: ['data.command'],
  bash_progress: ['data.output'],
  waiting_for_task: ['data.taskDescription'],
  query_update: ['data.query'],
  search_results_received: ['data.query'],
  mcp_progress: ['data.toolName'],
  hook_success: ['attachment.content', 'attachment.stdout'],
  hook_additional_context: ['attachment.content.*'],
  edited_text_file: ['attachment.snippet'],
  hook_cancelled: ['attachment.stdout'],
  hook_non_blocking_error: ['attachment.stderr'],
};

export const RESTORED: RestoredForm = {
  stamp(record, { origin: { session, subagent } }, version) {
    const type = String(record.type);
    const isOfSession = !WITHOUT_SESSION.has(type);
    const isVersioned = typeof record.uuid === 'string' || /^api-request(-shape)?$/.test(type);
    return {
      ...withThoughts(record),
      ...(isOfSession && !('sessionId' in record) && { sessionId: session }),
      ...(isOfSession && subagent !== undefined && !('agentId' in record) && { agentId: subagent }),
      ...(isVersioned && version !== undefined && !('version' in record) && { version }),
    };
  },
  places(record) {
    const part = partOf(record);
    const kind = peekText(part, 'data.type') ?? peekText(part, 'attachment.type') ?? peekText(part, 'type') ?? '';
    const isOfTask =
      peek(part, 'toolUseResult.usage') !== undefined || peek(part, 'toolUseResult.totalTokens') !== undefined;
    return [
      ...(PLACES[kind] ?? []),
      'timestamp',
      'message.content',
      ...(isOfTask ? ['toolUseResult.totalDurationMs'] : []),
      ...(peek(part, 'renderedRole') === undefined ? [] : ['rendered.*.content']),
    ];
  },
};

/** A thought without a text has an empty one. Its event has one in any case. */
function withThoughts(record: JsonObject): JsonObject {
  const { message } = record;
  if (!isObject(message) || !Array.isArray(message.content)) return record;
  const content = message.content.map((block: unknown) =>
    isObject(block) && block.type === 'thinking' && !('thinking' in block) ? { ...block, thinking: '' } : block,
  );
  return { ...record, message: { ...message, content } };
}
