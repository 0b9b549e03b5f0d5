import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { facts, quiet, type Readers } from '../reader.ts';
import type { Remainder } from '../remainder.ts';
import { takeFirstText, takeInteger, takeText } from '../typed.ts';

/** The kinds of records besides messages. */
export const SESSION_KINDS: Readers = [
  ['session_start', readStart],
  ['session_settings', facts({ model: ['model'] })],
  ['compaction_state', readCompaction],
  ['agent_turn_outcome', readTurnEnd],
  // The list of tasks as it stands, which the calls of its tool say too.
  ['todo_state', quiet('todo_state')],
];

/** The title of a sub-agent is what it was asked to do, and not the session's. */
function readStart(remainder: Remainder, { origin }: RecordPlace): Draft[] {
  const title = takeFirstText(remainder, ['sessionTitle'], ['title']);
  const cwd = takeText(remainder, 'cwd');
  const subagent = origin.subagent === undefined ? undefined : takeText(remainder, 'id');
  if (subagent === undefined) {
    return [draft('session.meta', { title, titleBy: title === undefined ? undefined : 'agent', cwd })];
  }
  const callId = takeText(remainder, 'callingToolUseId');
  const started = draft('subagent.started', { subagent, callId, description: title });
  return cwd === undefined ? [started] : [started, draft('session.meta', { cwd })];
}

function readCompaction(remainder: Remainder): Draft[] {
  return [
    draft('compaction', {
      summary: takeFirstText(remainder, ['summaryText'], ['summary']),
      tokensBefore: takeInteger(remainder, 'tokensBefore'),
    }),
  ];
}

function readTurnEnd(remainder: Remainder): Draft[] {
  return [draft('turn.finished', { reason: takeText(remainder, 'reason') })];
}
