import type { Supervisor } from './supervisor.ts';

const NAME = 'Session Capture';

/** A scheduled task of Windows. The variables it needs are those the person set for all programs. */
export const scheduledTask: Supervisor = {
  kind: 'task',
  name: 'a scheduled task',
  isAvailable: async () => true,
  start({ program }) {
    const line = ['conhost.exe --headless', ...program.map((word) => `"${word}"`), 'run', '--quiet'].join(' ');
    return [
      ['schtasks', '/Create', '/F', '/SC', 'ONLOGON', '/RL', 'LIMITED', '/TN', NAME, '/TR', line],
      ['schtasks', '/Run', '/TN', NAME],
    ];
  },
  stop: () => [
    ['schtasks', '/End', '/TN', NAME],
    ['schtasks', '/Delete', '/F', '/TN', NAME],
  ],
};
