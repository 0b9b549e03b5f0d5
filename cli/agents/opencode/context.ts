import type { JsonObject } from '../agent.ts';
import { isObject } from '../remainder.ts';

/** What stores know of a part's surroundings, and its parser must know. */

/**
 * A part under the role of its message: what is text of a person in one is the model's in another, and a summary in a
 * third. With the model where an event tells it.
 */
export function toPartRecord(part: JsonObject, content: JsonObject, message: JsonObject): JsonObject {
  const { role, modelID: model, summary } = message;
  const isKnown = role === 'user' || role === 'assistant';
  const key = !isKnown ? 'part' : role === 'assistant' && summary === true ? 'summary' : role;
  const isSaid = role === 'assistant' && OF_MODEL.has(content.type) && !(key === 'summary' && content.type === 'text');
  const isOfModel = isSaid && typeof model === 'string';
  return { [key]: part, ...(isOfModel && { model }) };
}

const OF_MODEL: ReadonlySet<unknown> = new Set(['text', 'reasoning', 'tool', 'step-finish']);

/** Whether a message, or a part of a message in this role, is still being written. */
export function isUnsettled({ type, role, state, time, error, summary }: JsonObject, roleOfMessage?: unknown): boolean {
  const times = isObject(time) ? time : {};
  if (role === 'assistant') return times.completed === undefined && error === undefined;
  // Not seen by anybody, and written again after every step: what has changed in all files so far.
  if (role === 'user') return summary !== undefined;
  if (roleOfMessage !== 'assistant') return false;
  if (type === 'text' || type === 'reasoning') return times.end === undefined;
  return type === 'tool' && isObject(state) && (state.status === 'pending' || state.status === 'running');
}
