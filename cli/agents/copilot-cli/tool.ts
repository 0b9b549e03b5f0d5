import { type Draft, draft } from '../compose.ts';
import { quiet, type Readers } from '../reader.ts';
import { peek, type Remainder, take } from '../remainder.ts';
import { takeFirstText, takeInteger, takeNumber, takeText } from '../typed.ts';

export const TOOL_KINDS: Readers = [
  // Every one is in the response that asked for it: 165 of 165 in real sessions.
  ['tool.execution_start', quiet('duplicate:tool.execution_start')],
  ['tool.execution_complete', readResult],
  ['tool.user_requested', readUserCall],
];

function readResult(remainder: Remainder): Draft[] {
  return [
    draft('tool.result', {
      callId: takeText(remainder, 'data', 'toolCallId'),
      name: takeText(remainder, 'data', 'toolName'),
      output: takeFirstText(remainder, ['data', 'result', 'content'], ['data', 'error', 'message'], ['data', 'result']),
      isError: peek(remainder, 'data', 'success') === false || undefined,
      exitCode: takeInteger(remainder, 'data', 'shellExecution', 'exitCode'),
      durationMs: takeNumber(remainder, 'data', 'toolTelemetry', 'metrics', 'durationMs'),
      detail: take(remainder, 'data', 'result'),
    }),
  ];
}

/** A tool the person ran, without the model. */
function readUserCall(remainder: Remainder): Draft[] {
  const name = takeText(remainder, 'data', 'toolName');
  if (name === undefined) return [];
  const callId = takeText(remainder, 'data', 'toolCallId');
  return [draft('tool.call', { callId, name, input: take(remainder, 'data', 'arguments') })];
}
