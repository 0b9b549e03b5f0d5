import { type Draft, draft } from '../compose.ts';
import { type Path, type Remainder, take } from '../remainder.ts';
import { peekText, takeText } from '../typed.ts';

export function readSpawn(remainder: Remainder): Draft[] {
  const subagent = takeText(remainder, 'payload', 'new_thread_id');
  if (subagent === undefined) return [];
  return [
    draft('subagent.started', {
      subagent,
      callId: takeText(remainder, 'payload', 'call_id'),
      agentType: takeText(remainder, 'payload', 'new_agent_role'),
      description: takeText(remainder, 'payload', 'new_agent_nickname'),
      prompt: takeText(remainder, 'payload', 'prompt'),
    }),
  ];
}

export function readClose(remainder: Remainder): Draft[] {
  const subagent = takeText(remainder, 'payload', 'receiver_thread_id');
  if (subagent === undefined) return [];
  const callId = takeText(remainder, 'payload', 'call_id');
  return [draft('subagent.finished', { subagent, callId, result: take(remainder, 'payload', 'status') })];
}

/** An activity that an event tells: `started`, `interacted`, and an end under one of several words. */
export const readActivity = (remainder: Remainder): Draft[] => readActivityAt(remainder, ['payload'], 'event_id');

/** The same as a completed item. */
export const readActivityItem = (remainder: Remainder): Draft[] => readActivityAt(remainder, ['payload', 'item'], 'id');

function readActivityAt(remainder: Remainder, at: Path, idKey: string): Draft[] {
  const activity = peekText(remainder, ...at, 'kind') ?? '';
  const isEnd = /^(completed|finished|closed|shutdown|errored|interrupted)$/.test(activity);
  const isStart = activity === 'started';
  const subagent = isStart || isEnd ? takeText(remainder, ...at, 'agent_thread_id') : undefined;
  if (subagent === undefined) return [draft('notice', { kind: 'sub_agent_activity' })];
  const callId = takeText(remainder, ...at, idKey);
  if (isEnd) return [draft('subagent.finished', { subagent, callId })];
  return [draft('subagent.started', { subagent, callId, description: takeText(remainder, ...at, 'agent_path') })];
}
