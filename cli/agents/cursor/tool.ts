import { type Draft, draft } from '../compose.ts';
import { type Path, peek, type Remainder, take } from '../remainder.ts';
import { peekText, takeNumber, takeText } from '../typed.ts';

const at = (...path: Path): Path => ['event', ...path];

/** A call before it runs; the same call afterwards is a revision of it, and says it again with the result. */
export function readCall(remainder: Remainder): Draft[] {
  const callId = takeText(remainder, ...at('tool_use_id'));
  const name = takeText(remainder, ...at('tool_name')) ?? 'tool';
  const model = takeText(remainder, ...at('model'));
  return [draft('tool.call', { callId, name, input: take(remainder, ...at('tool_input')), model })];
}

export function readToolResult(remainder: Remainder): Draft[] {
  const callId = peekText(remainder, ...at('tool_use_id'));
  const isError = hasFailed(peek(remainder, ...at('tool_output'))) || undefined;
  const output = take(remainder, ...at('tool_output'));
  const durationMs = takeNumber(remainder, ...at('duration'));
  return [...readCall(remainder), draft('tool.result', { callId, output, isError, durationMs })];
}

export function readToolFailure(remainder: Remainder): Draft[] {
  const callId = peekText(remainder, ...at('tool_use_id'));
  const output = take(remainder, ...at('error_message'));
  const durationMs = takeNumber(remainder, ...at('duration'));
  return [...readCall(remainder), draft('tool.result', { callId, output, isError: true, durationMs })];
}

const LONGEST_LOOKED_INTO = 1024 * 1024;

/** A command's exit code stands in JSON inside the output's text. */
function hasFailed(output: unknown): boolean {
  if (typeof output !== 'string' || output.length > LONGEST_LOOKED_INTO || !output.startsWith('{')) return false;
  try {
    const { exitCode } = JSON.parse(output) as { exitCode?: unknown };
    return typeof exitCode === 'number' && exitCode !== 0;
  } catch {
    return false;
  }
}
