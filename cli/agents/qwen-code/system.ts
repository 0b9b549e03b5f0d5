import { type Draft, draft } from '../compose.ts';
import { context, facts, notice, quiet, type Readers } from '../reader.ts';
import type { Remainder } from '../remainder.ts';
import { peekText, takeInteger, takeText } from '../typed.ts';
import { readTelemetry } from './tool-result.ts';

/** What the program did or noted, by `subtype`. */
export const SYSTEM_KINDS: Readers = [
  ['ui_telemetry', readTelemetry],
  ['custom_title', readTitle],
  ['chat_compression', readCompression],
  ['session_model', facts({ model: ['systemPayload', 'model'] })],
  ['session_approval_mode', facts({})],
  ['parent_session', facts({ forkedFrom: ['systemPayload', 'parentSessionId'] })],
  ['slash_command', notice('slash_command', ['systemPayload', 'rawCommand'])],
  ['notification', notice('notification', ['systemPayload', 'displayText'])],
  ['rewind', notice('rewind')],
  ['at_command', context('at_command')],
  ['agent_bootstrap', context('agent_bootstrap')],
  ['agent_launch_prompt', context('agent_launch_prompt', ['systemPayload', 'prompt'])],
  ['attribution_snapshot', quiet('attribution_snapshot')],
  ['file_history_snapshot', quiet('file_history_snapshot')],
  ['session_artifact_event', quiet('session_artifact_event')],
  ['session_artifact_snapshot', quiet('session_artifact_snapshot')],
];

function readTitle(remainder: Remainder): Draft[] {
  const titleBy = peekText(remainder, 'systemPayload', 'titleSource') === 'auto' ? 'agent' : 'person';
  return [draft('session.meta', { title: takeText(remainder, 'systemPayload', 'customTitle'), titleBy })];
}

/** The history as it is from here on is left in `rest`. */
function readCompression(remainder: Remainder): Draft[] {
  return [
    draft('compaction', {
      trigger: takeText(remainder, 'systemPayload', 'info', 'triggerReason'),
      tokensBefore: takeInteger(remainder, 'systemPayload', 'info', 'originalTokenCount'),
    }),
  ];
}

/** The first record of a chain says where the work goes on; every later one repeats it, and is not asked. */
export function readRoot(remainder: Remainder): Draft[] {
  const cwd = takeText(remainder, 'cwd');
  const branch = peekText(remainder, 'gitBranch') ? takeText(remainder, 'gitBranch') : undefined;
  const forkedFrom = takeText(remainder, 'forkedFrom', 'sessionId') ?? takeText(remainder, 'forkedFrom');
  if ([cwd, branch, forkedFrom].every((fact) => fact === undefined)) return [];
  return [draft('session.meta', { cwd, branch, forkedFrom })];
}
