import type { JsonObject, RestoredForm } from '../agent.ts';
import { isObject, partOf, peekText } from '../shared/part.ts';
import { threadOf } from '../shared/responses.ts';

/** The places of a payload's kind. */
const PLACES: { readonly [kind: string]: readonly string[] } = {
  custom_tool_call: ['payload.input', 'input'],
  web_search_call: ['payload.action', 'payload.id', 'action', 'id'],
  local_shell_call: ['payload.action', 'action'],
  reasoning: ['payload.summary.*.text', 'payload.content.*.text'],
  entered_review_mode: ['payload.user_facing_hint'],
  exited_review_mode: ['payload.review_output.overall_explanation'],
  item_completed: ['payload.item', 'payload.item.id'],
  mcp_tool_call_end: ['payload', 'payload.invocation.tool'],
  tool_search_output: ['payload.tools'],
  thread_goal_updated: ['payload.goal.objective'],
  guardian_assessment: ['payload.rationale'],
};

export const RESTORED: RestoredForm = {
  stamp(record, place, version) {
    if (record.type !== 'session_meta' || !isObject(record.payload)) return record;
    const { payload } = record;
    const stamps: JsonObject = {
      ...(!('id' in payload) && { id: threadOf(place.origin) }),
      ...(version !== undefined && !('cli_version' in payload) && { cli_version: version }),
    };
    return { ...record, payload: { ...payload, ...stamps } };
  },
  places(record) {
    const part = partOf(record);
    const kind = peekText(part, 'payload.type') ?? peekText(part, 'type') ?? '';
    return [...(PLACES[kind] ?? []), 'payload', 'payload.message'];
  },
};
