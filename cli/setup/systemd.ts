import { join } from 'node:path';
import type { Variables } from '../agents/agent.ts';
import { execute } from './execute.ts';
import type { Supervisor } from './supervisor.ts';
import { variablesForDaemon } from './variables.ts';

const UNIT = 'session-capture.service';
const ASK_MS = 5000;
const PROPERTIES = '--property=ActiveState,Result,ExecMainStatus';

/** A unit of the person's own systemd, where one runs: not in a container, and not for who came by `su`. */
export const systemd: Supervisor = {
  kind: 'systemd',
  name: "systemd (the person's own)",
  async isAvailable(context) {
    const { exitCode } = await execute(context, ['systemctl', '--user', 'show-environment'], ASK_MS);
    return exitCode === 0;
  },
  file: ({ variables, home, program }) => ({
    kind: 'own',
    path: join(variables.XDG_CONFIG_HOME || join(home, '.config'), 'systemd', 'user', UNIT),
    content: writeUnit(program, variables),
    marker: 'Description=Session Capture',
    mode: 0o644,
  }),
  start: () => [
    ['systemctl', '--user', 'daemon-reload'],
    ['systemctl', '--user', 'enable', UNIT],
    ['systemctl', '--user', 'restart', UNIT],
  ],
  async findTrouble(context) {
    const { output } = await execute(context, ['systemctl', '--user', 'show', UNIT, PROPERTIES], ASK_MS);
    const values = Object.fromEntries(output.split('\n').map((line) => line.split('=', 2)));
    const { ActiveState: state, Result: result, ExecMainStatus: status } = values as { [name: string]: string };
    if (state === 'active' || state === 'activating') return undefined;
    return `${UNIT} is ${state || 'not known to systemd'}${result && result !== 'success' ? ` (${result}, exit code ${status})` : ''}`;
  },
  stop: () => [['systemctl', '--user', 'disable', '--now', UNIT]],
  forget: [['systemctl', '--user', 'daemon-reload']],
};

/** A usage error or a missing sign-in stays what it is however often it is tried. */
const writeUnit = (program: readonly string[], variables: Variables): string => `[Unit]
Description=Session Capture
After=network.target

[Service]
ExecStart=${[...program, 'run', '--quiet'].map(quote).join(' ')}
${Object.entries(variablesForDaemon(variables))
  .map(([name, value]) => `Environment=${quote(`${name}=${value}`).replaceAll('$$', '$')}\n`)
  .join('')}Restart=on-failure
RestartSec=30
RestartPreventExitStatus=2 4
Nice=10

[Install]
WantedBy=default.target
`;

const quote = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;
