import { type Draft, draft } from '../compose.ts';
import { type Path, type Remainder, take } from '../remainder.ts';
import { peekText, takeFlag, takeInteger, takeNumber, takeText } from '../typed.ts';

/** A `tool_result` block, with the record's structured copy of it where the record has no other result. */
export function readToolResult(remainder: Remainder, at: Path, hasDetail: boolean): Draft[] {
  const callId = takeText(remainder, ...at, 'tool_use_id');
  const subagent = hasDetail ? readSubagent(remainder, callId) : [];
  const result = draft('tool.result', {
    callId,
    output: take(remainder, ...at, 'content'),
    isError: takeFlag(remainder, ...at, 'is_error'),
    exitCode: hasDetail ? takeInteger(remainder, 'toolUseResult', 'exitCode') : undefined,
    durationMs: hasDetail ? takeDuration(remainder) : undefined,
    detail: hasDetail ? take(remainder, 'toolUseResult') : undefined,
  });
  return [result, ...subagent];
}

function takeDuration(remainder: Remainder): number | undefined {
  return (
    takeNumber(remainder, 'toolUseResult', 'durationMs') ?? takeNumber(remainder, 'toolUseResult', 'totalDurationMs')
  );
}

/** The result of the tool that starts sub-agents names the one it started, which by then has finished or runs on. */
function readSubagent(remainder: Remainder, callId: string | undefined): Draft[] {
  const runsOn = peekText(remainder, 'toolUseResult', 'status') === 'async_launched';
  const subagent = takeText(remainder, 'toolUseResult', 'agentId');
  if (subagent === undefined) return [];
  if (!runsOn) {
    return [draft('subagent.finished', { subagent, callId, result: take(remainder, 'toolUseResult', 'content') })];
  }
  return [
    draft('subagent.started', {
      subagent,
      callId,
      agentType: takeText(remainder, 'toolUseResult', 'agentType'),
      description: takeText(remainder, 'toolUseResult', 'description'),
      prompt: takeText(remainder, 'toolUseResult', 'prompt'),
    }),
  ];
}
