import { type Draft, draft } from '../compose.ts';
import { notice, type Readers } from '../reader.ts';
import { type Remainder, take } from '../remainder.ts';
import { peekText, takeFirstText, takeText } from '../typed.ts';

export const SUBAGENT_KINDS: Readers = [
  ['subagent.started', readStart],
  ['subagent.completed', readEnd],
  ['subagent.failed', readEnd],
  ['subagent.selected', notice('subagent.selected', ['data', 'agentDisplayName'], ['data', 'agentName'])],
  ['subagent.deselected', notice('subagent.deselected')],
];

function readStart(remainder: Remainder): Draft[] {
  const known = takeIdentity(remainder);
  if (known === undefined) return [];
  const agentType = takeText(remainder, 'data', 'agentName');
  const description = takeFirstText(remainder, ['data', 'agentDescription'], ['data', 'agentDisplayName']);
  return [draft('subagent.started', { ...known, agentType, description })];
}

function readEnd(remainder: Remainder): Draft[] {
  const known = takeIdentity(remainder);
  return known === undefined
    ? []
    : [draft('subagent.finished', { ...known, result: take(remainder, 'data', 'error') })];
}

/** A sub-agent without an id of its own is known by the call that started it. */
function takeIdentity(remainder: Remainder): { subagent: string; callId: string | undefined } | undefined {
  const callId = peekText(remainder, 'data', 'toolCallId');
  const subagent = takeText(remainder, 'agentId');
  if (subagent === undefined && callId === undefined) return undefined;
  if (callId !== undefined) take(remainder, 'data', 'toolCallId');
  return { subagent: subagent ?? callId ?? '', callId };
}
