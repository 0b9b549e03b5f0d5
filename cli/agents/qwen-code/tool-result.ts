import { type Draft, draft } from '../compose.ts';
import { elementsAt } from '../reader.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeInteger, takeNumber, takeText } from '../typed.ts';

/** What tools answered, with the program's own copy of it where the record has one result. */
export function readToolResult(remainder: Remainder): Draft[] {
  const responses = elementsAt(remainder, 'message', 'parts')
    .map((at) => [...at, 'functionResponse'])
    .filter((at) => peek(remainder, ...at) !== undefined);
  if (responses.length === 0 && peek(remainder, 'toolCallResult') !== undefined) return [readDetail(remainder)];
  return responses.map((at) => readResponse(remainder, at, responses.length === 1));
}

function readResponse(remainder: Remainder, at: Path, hasDetail: boolean): Draft {
  const callId = takeText(remainder, ...at, 'id');
  const isError = isFailed(remainder, at, hasDetail) || undefined;
  const name = takeText(remainder, ...at, 'name');
  const key = ['output', 'error'].find((key) => peek(remainder, ...at, 'response', key) !== undefined);
  const output = take(remainder, ...at, 'response', ...(key === undefined ? [] : [key]));
  if (!hasDetail) return draft('tool.result', { callId, name, output, isError });
  const exitCode = takeInteger(remainder, 'toolCallResult', 'resultDisplay', 'exitCode');
  return draft('tool.result', { callId, name, output, isError, exitCode, detail: take(remainder, 'toolCallResult') });
}

function isFailed(remainder: Remainder, at: Path, hasDetail: boolean): boolean {
  if (peek(remainder, ...at, 'response', 'error') !== undefined) return true;
  return hasDetail && peekText(remainder, 'toolCallResult', 'status') === 'error';
}

function readDetail(remainder: Remainder): Draft {
  const callId = takeText(remainder, 'toolCallResult', 'callId');
  const exitCode = takeInteger(remainder, 'toolCallResult', 'resultDisplay', 'exitCode');
  return draft('tool.result', { callId, exitCode, detail: take(remainder, 'toolCallResult') });
}

const EVENT: Path = ['systemPayload', 'uiEvent'];

/** The log of requests, which old and new versions keep in the transcript. */
export function readTelemetry(remainder: Remainder): Draft[] {
  const name = peekText(remainder, ...EVENT, 'event.name')?.replace('qwen-code.', '') ?? 'ui_telemetry';
  if (name === 'tool_call') return [readToolEnd(remainder)];
  if (name === 'api_error') {
    const kind = peekText(remainder, ...EVENT, 'error_type') ?? name;
    const text = takeText(remainder, ...EVENT, 'error_message') ?? takeText(remainder, ...EVENT, 'error');
    return [draft('error', { text, kind })];
  }
  return [draft('record', { kind: name === 'api_response' ? `duplicate:${name}` : 'ui_telemetry' })];
}

/** Stands before the result itself, to which its `callId` joins it. */
function readToolEnd(remainder: Remainder): Draft {
  return draft('tool.result', {
    callId: takeText(remainder, ...EVENT, 'call_id'),
    name: takeText(remainder, ...EVENT, 'function_name'),
    durationMs: takeNumber(remainder, ...EVENT, 'duration_ms'),
    detail: take(remainder, ...EVENT),
  });
}
