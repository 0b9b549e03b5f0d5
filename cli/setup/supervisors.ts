import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Context, childEnvironment } from '../context.ts';
import { readFile } from '../hooks/file.ts';
import { variablesForDaemon } from './variables.ts';

/** What of a system starts programs when a person signs in, and again when they end. */
export interface Supervisor {
  /** As people call it. */
  name: 'systemd' | 'launchd' | 'Task Scheduler';
  /** Fails where it cannot be used on this machine, by this person. */
  probe?: string[];
  /** What it reads about the daemon. A file at this path without the marker is somebody else's. */
  file?: { path(context: Context): string; marker: string; write(context: Context): string };
  /** What is run, after the file was written, to have the daemon run now and in future. The last one must succeed. */
  start(context: Context): string[][];
  /** What is run, before the file is removed, to have it stop for good. */
  stop(context: Context): string[][];
}

const UNIT = 'session-capture.service';
const LABEL = 'dev.session-capture.daemon';
const TASK = 'Session Capture';

const systemctl = (...words: string[]) => ['systemctl', '--user', ...words];
const plistPath = ({ home }: Pick<Context, 'home'>) => join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`);

/** By platform, as Node names it. */
const SUPERVISORS: { readonly [platform: string]: Supervisor } = {
  /** Of the person's own, where one runs: not in a container, and not for who came by `su`. */
  linux: {
    name: 'systemd',
    probe: systemctl('show-environment'),
    file: {
      path: ({ variables, home }) => join(variables.XDG_CONFIG_HOME || join(home, '.config'), 'systemd', 'user', UNIT),
      marker: 'Description=Session Capture',
      write: writeUnit,
    },
    start: () => [systemctl('daemon-reload'), systemctl('enable', UNIT), systemctl('restart', UNIT)],
    stop: () => [systemctl('disable', '--now', UNIT)],
  },
  darwin: {
    name: 'launchd',
    file: { path: plistPath, marker: LABEL, write: writePropertyList },
    start: (context) => [
      ['launchctl', 'unload', plistPath(context)],
      ['launchctl', 'load', '-w', plistPath(context)],
    ],
    stop: (context) => [['launchctl', 'unload', '-w', plistPath(context)]],
  },
  /** The variables it needs are those the person set for all programs. Without `conhost` it would have a window. */
  win32: {
    name: 'Task Scheduler',
    start: ({ program }) => {
      const line = ['conhost.exe --headless', ...program.map((word) => `"${word}"`), 'run', '--quiet'].join(' ');
      return [
        ['schtasks', '/Create', '/F', '/SC', 'ONLOGON', '/RL', 'LIMITED', '/TN', TASK, '/TR', line],
        ['schtasks', '/Run', '/TN', TASK],
      ];
    },
    stop: () => [
      ['schtasks', '/End', '/TN', TASK],
      ['schtasks', '/Delete', '/F', '/TN', TASK],
    ],
  },
};

export const supervisorOf = (platform: string): Supervisor | undefined => SUPERVISORS[platform];

/** The supervisor of this system; undefined where there is none for this person. */
export function findSupervisor(context: Context): Supervisor | undefined {
  const supervisor = supervisorOf(context.platform);
  const isUsable = supervisor?.probe === undefined || execute(context, supervisor.probe);
  return isUsable && isOurs(context, supervisor?.file) ? supervisor : undefined;
}

/** Whether what it reads about the daemon is ours, or not there yet. */
export const isOurs = (context: Context, file: Supervisor['file']): boolean =>
  file === undefined || readFile(file.path(context))?.includes(file.marker) !== false;

const COMMAND_MS = 30_000;

/** Runs a program of the system, which is not handed capture's secret; returns whether it succeeded. */
export function execute(
  { variables, home }: Pick<Context, 'variables' | 'home'>,
  [program = '', ...args]: readonly string[],
): boolean {
  const options = { cwd: home, env: childEnvironment(variables), stdio: 'ignore', windowsHide: true } as const;
  return spawnSync(program, args, { ...options, timeout: COMMAND_MS, killSignal: 'SIGKILL' }).status === 0;
}

/** A usage error or a missing sign-in stays what it is however often it is tried. */
function writeUnit({ program, variables }: Context): string {
  const quote = (text: string) => `"${text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`;
  const words = [...program, 'run', '--quiet'].map((word) => quote(word).replaceAll('$', '$$$$'));
  const pairs = Object.entries(variablesForDaemon(variables)).map((pair) => `Environment=${quote(pair.join('='))}\n`);
  return `[Unit]
Description=Session Capture
After=network.target

[Service]
ExecStart=${words.join(' ')}
${pairs.join('')}Restart=on-failure
RestartSec=30
RestartPreventExitStatus=2 4
Nice=10

[Install]
WantedBy=default.target
`;
}

function writePropertyList({ program, variables }: Context): string {
  const quote = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const words = [...program, 'run', '--quiet'].map((word) => `    <string>${quote(word)}</string>\n`);
  const pairs = Object.entries(variablesForDaemon(variables)).map(
    ([name, value]) => `    <key>${name}</key><string>${quote(value)}</string>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${pairs.join('')}  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>30</integer>
  <key>ProcessType</key><string>Background</string>
</dict>
</plist>
`;
}
