import { execute } from './execute.ts';
import { headlessLine, runKey } from './run-key.ts';
import type { Supervisor } from './supervisor.ts';

const ASK_MS = 5000;
const NAME = 'Session Capture';

/** A scheduled task of Windows. The variables it needs are those the person set for all programs. */
export const scheduledTask: Supervisor = {
  kind: 'task',
  name: 'a scheduled task',
  isAvailable: async () => true,
  start: (context) => [
    ['schtasks', '/Create', '/F', '/SC', 'ONLOGON', '/RL', 'LIMITED', '/TN', NAME, '/TR', headlessLine(context)],
    ['schtasks', '/Run', '/TN', NAME],
  ],
  async findTrouble(context) {
    const { exitCode } = await execute(context, ['schtasks', '/Query', '/TN', NAME], ASK_MS);
    return exitCode === 0 ? undefined : `there is no scheduled task “${NAME}”`;
  },
  stop: () => [
    ['schtasks', '/End', '/TN', NAME],
    ['schtasks', '/Delete', '/F', '/TN', NAME],
  ],
  otherwise: runKey,
};
