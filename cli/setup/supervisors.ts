import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { stateFolder } from '../config.ts';
import { type Context, childEnvironment } from '../context.ts';
import { readFile } from '../hooks/file.ts';
import { FINAL_EXITS, SUPERVISOR_VARIABLE } from './exit-codes.ts';
import { variablesForDaemon } from './variables.ts';

/**
 * The part of a system that starts programs when a person signs in, and restarts them when they end. Only systemd is tested
 * here. launchd and Task Scheduler follow their documentation.
 */
export interface Supervisor {
  /** The name that people use. */
  name: 'systemd' | 'launchd' | 'Task Scheduler';
  /** A command that fails if this person cannot use the supervisor. */
  probe?: string[];
  /** Its description of the daemon. A file at this path without the marker belongs to somebody else. */
  file: { path(context: Context): string; marker: string; write(context: Context): string };
  /** Commands that start the daemon now and at each sign-in. They run after the file is written. The last one must succeed. */
  start(context: Context): string[][];
  /** Commands that end the daemon for good. They run before the file is removed. */
  stop(context: Context): string[][];
}

const UNIT = 'session-capture.service';
const LABEL = 'dev.session-capture.daemon';
const TASK = 'Session Capture';

const systemctl = (...words: string[]) => ['systemctl', '--user', ...words];
const plistPath = ({ home }: Pick<Context, 'home'>) => join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`);
const taskPath = (context: Context) => join(stateFolder(context), 'task.xml');

/** By Node's names of platforms. */
const SUPERVISORS: { readonly [platform: string]: Supervisor } = {
  /** The person's own manager. Containers have none, and a shell opened by `su` cannot reach it. */
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
  win32: {
    name: 'Task Scheduler',
    file: { path: taskPath, marker: `<URI>\\${TASK}</URI>`, write: writeTask },
    start: (context) => [
      ['schtasks', '/Create', '/F', '/TN', TASK, '/XML', taskPath(context)],
      ['schtasks', '/Run', '/TN', TASK],
    ],
    stop: () => [
      ['schtasks', '/End', '/TN', TASK],
      ['schtasks', '/Delete', '/F', '/TN', TASK],
    ],
  },
};

export const supervisorOf = (platform: string): Supervisor | undefined => SUPERVISORS[platform];

/** The supervisor of this system. Undefined if this person has none. */
export function findSupervisor(context: Context): Supervisor | undefined {
  const supervisor = supervisorOf(context.platform);
  const isUsable = supervisor?.probe === undefined || execute(context, supervisor.probe);
  return supervisor && isUsable && isOurs(context, supervisor.file) ? supervisor : undefined;
}

/** Whether the supervisor's description of the daemon is ours, or does not exist yet. */
export const isOurs = (context: Context, file: Supervisor['file']): boolean =>
  readFile(file.path(context))?.includes(file.marker) !== false;

const COMMAND_MS = 30_000;

/** Runs a program of the system without capture's secret. Returns whether it succeeded. */
export function execute(
  { variables, home }: Pick<Context, 'variables' | 'home'>,
  [program = '', ...args]: readonly string[],
): boolean {
  const options = { cwd: home, env: childEnvironment(variables), stdio: 'ignore', windowsHide: true } as const;
  return spawnSync(program, args, { ...options, timeout: COMMAND_MS, killSignal: 'SIGKILL' }).status === 0;
}

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
RestartPreventExitStatus=${FINAL_EXITS.join(' ')}
Nice=10

[Install]
WantedBy=default.target
`;
}

function writePropertyList({ program, variables }: Context): string {
  const words = [...program, 'run', '--quiet'].map((word) => `    <string>${escapeXml(word)}</string>\n`);
  const given = { ...variablesForDaemon(variables), [SUPERVISOR_VARIABLE]: 'launchd' };
  const pairs = Object.entries(given).map(
    ([name, value]) => `    <key>${name}</key><string>${escapeXml(value)}</string>\n`,
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

/**
 * A task in the schema of Task Scheduler 1.2. `schtasks` has no options for four settings with wrong defaults. A task would
 * not start on battery, would end when the machine is unplugged, and would end after three days. A task for every user's
 * sign-in would need an administrator. `conhost --headless` keeps the daemon from opening a window.
 */
function writeTask({ program, variables }: Context): string {
  const { USERDOMAIN: domain, USERNAME: name = '' } = variables;
  const user = escapeXml(domain ? `${domain}\\${name}` : name);
  const words = ['--headless', ...program.map((word) => `"${word}"`), 'run', '--quiet'];
  return `<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <URI>\\${TASK}</URI>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>${user}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${user}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>8</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>10</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>conhost.exe</Command>
      <Arguments>${escapeXml(words.join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
}

/** ASCII, which every encoding reads the same. */
const escapeXml = (text: string): string =>
  text.replace(/[&<>"]|[^\x20-\x7e]/gu, (character) => `&#${character.codePointAt(0)};`);
