import { join } from 'node:path';
import type { Context } from '../context.ts';
import { execute } from './execute.ts';
import type { Supervisor } from './supervisor.ts';
import { variablesForDaemon } from './variables.ts';

const ASK_MS = 5000;
const LABEL = 'dev.session-capture.daemon';

const plistPath = (home: string) => join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`);

/** An agent of launchd, for the person who is signed in. */
export const launchd: Supervisor = {
  kind: 'launchd',
  name: 'launchd',
  isAvailable: async () => true,
  file: (context) => ({
    kind: 'own',
    path: plistPath(context.home),
    content: writePropertyList(context),
    marker: LABEL,
    mode: 0o644,
  }),
  start: ({ home }) => [
    ['launchctl', 'unload', plistPath(home)],
    ['launchctl', 'load', '-w', plistPath(home)],
  ],
  async findTrouble(context) {
    const { exitCode, output } = await execute(context, ['launchctl', 'list', LABEL], ASK_MS);
    if (exitCode !== 0) return `${LABEL} is not loaded`;
    if (/"PID" = \d+/.test(output)) return undefined;
    return `${LABEL} does not run (exit status ${/"LastExitStatus" = (\d+)/.exec(output)?.[1] ?? 'unknown'})`;
  },
  stop: ({ home }) => [['launchctl', 'unload', '-w', plistPath(home)]],
};

function writePropertyList({ program, variables }: Pick<Context, 'program' | 'variables'>): string {
  const words = [...program, 'run', '--quiet'].map((word) => `    <string>${escapeXml(word)}</string>\n`);
  const pairs = Object.entries(variablesForDaemon(variables)).map(
    ([name, value]) => `    <key>${name}</key>\n    <string>${escapeXml(value)}</string>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${pairs.join('')}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>30</integer>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`;
}

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
