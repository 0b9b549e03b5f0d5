import type { Echo } from './entry.ts';
import { readClaudeUsage } from './usage.ts';
import { asArray, asObject, asText, type Loose } from './value.ts';

/** An event's type and payload, as far as readers need them. */
export interface Typed {
  eventType: string;
  payload: Loose;
}

/**
 * Claude Code 2.1.12 to 2.1.63 wrote messages of sub-agents as progress notices into the session's own file. This returns the
 * message as an event of its sub-agent. The sub-agent's own file has the same message, but may be missing.
 * @returns undefined if the event is not a notice of this kind
 */
export function readProgress(eventType: string, payload: Loose): Typed | undefined {
  if (eventType !== 'notice' || payload.kind !== 'agent_progress') return undefined;
  const { agentId, message } = asObject(asObject(payload.rest).data);
  const { timestamp, message: response, toolUseResult } = asObject(message);
  const { role, content, model, id } = asObject(response);
  const subagent = asText(agentId);
  if (!subagent) return undefined;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content).map(asObject);
  // A record normally has one block. Of several blocks, the one with a tool call or result counts.
  const block = blocks.find(({ type }) => type === 'tool_use' || type === 'tool_result') ?? blocks[0];
  if (!block) return undefined;
  const { source, redactions } = payload;
  const common = {
    source: { ...asObject(source), subagent },
    occurredAt: asText(timestamp) ?? payload.occurredAt,
    ...(redactions !== undefined && { redactions }),
  };
  const of = (eventType: string, fields: Loose): Typed => ({ eventType, payload: { ...common, ...fields } });
  switch (block.type) {
    case 'tool_use':
      return of('tool.call', { callId: block.id, name: block.name, input: block.input, model });
    case 'tool_result':
      return of('tool.result', {
        callId: block.tool_use_id,
        output: block.content,
        isError: block.is_error,
        detail: toolUseResult,
      });
    case 'thinking':
      return of('assistant.reasoning', { text: block.thinking, model, messageId: id });
    case 'text':
      return role === 'assistant'
        ? of('assistant.message', { text: block.text, model, messageId: id })
        : of('context.message', { text: block.text, kind: 'subagent-prompt' });
    default:
      return undefined;
  }
}

/** The event itself, or the sub-agent's event inside it. */
export const unwrapProgress = (eventType: string, payload: Loose): Typed =>
  readProgress(eventType, payload) ?? { eventType, payload };

/** The further data of a notice, besides the sub-agent's message. */
export function readEcho({ rest }: Loose): Echo {
  const { parentToolUseID, data } = asObject(rest);
  const { usage, id, model } = asObject(asObject(asObject(data).message).message);
  const starter = asText(parentToolUseID);
  return {
    ...(starter && { starter }),
    ...(usage !== undefined && { usage: readClaudeUsage(id, model, asObject(usage)) }),
  };
}
