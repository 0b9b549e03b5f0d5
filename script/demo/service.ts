import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onboarding } from '../../contract/onboarding.ts';
import { toText } from '../../server/log-text.ts';

export interface RunningService {
  url: string;
  /** Link to create the first account; undefined if an account exists. */
  welcomeLink: string | undefined;
  stop(): void;
  /** Resolves with the exit code. */
  ended: Promise<number>;
}

/** Overrides the shell's settings, so that the demo touches nothing outside its folder. An empty value counts as absent. */
const EMBEDDED = { DATABASE_URL: '', DATABASE_URL_FILE: '', IDENTITY_PROVIDER: 'embedded', IDENTITY_PROVIDER_FILE: '' };

/** Lines such as the signed heads of audit logs are for a log that is kept elsewhere; at a terminal they hide the account. */
const QUIET = 'warn';

/** Starts the service on a data folder, waits until it accepts connections, and prints its later log lines. */
export async function startService(dataDir: string, program: string): Promise<RunningService> {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...EMBEDDED, LOG_LEVEL: process.env.LOG_LEVEL || QUIET, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const url = await new Promise<string>((resolve, reject) => {
    output.on('line', (line) => {
      const [, ready] = /is ready at (\S+)/.exec(lines.join('\n')) ?? [];
      // The greeting ends with the commands that connect a machine.
      if (ready !== undefined && line.includes(onboarding(ready).at(-1)?.command ?? '')) resolve(ready);
    });
    void ended.then(() => reject(new Error('the service did not start')));
  });
  const link = /https?:\S+\/welcome\?token=\S+/.exec(lines.join('\n'));
  output.on('line', (line) => console.log(toText(line).trimEnd()));
  return { url, welcomeLink: link?.[0], stop: () => void child.kill('SIGTERM'), ended };
}
