import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { toText } from '../../server/log-text.ts';

export interface RunningService {
  url: string;
  /** Creates the first account; absent where there is an account already. */
  welcomeLink: string | undefined;
  stop(): void;
  /** Resolves with the exit code. */
  ended: Promise<number>;
}

/** After the line that names the address, the lines of the greeting follow at once. */
const GREETING_MS = 500;

/** Whatever the shell is set up for, the demo touches nothing outside its folder. Empty counts as absent. */
const EMBEDDED = { DATABASE_URL: '', DATABASE_URL_FILE: '', IDENTITY_PROVIDER: 'embedded', IDENTITY_PROVIDER_FILE: '' };

/** Starts the service on a data folder, and waits until it accepts connections. What it says later is passed on. */
export async function startService(dataDir: string, program: string): Promise<RunningService> {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...EMBEDDED, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const url = await new Promise<string>((resolve, reject) => {
    output.on('line', (line) => {
      const ready = /is ready at (\S+)/.exec(line);
      if (ready?.[1] !== undefined) setTimeout(resolve, GREETING_MS, ready[1]);
    });
    void ended.then(() => reject(new Error('the service did not start')));
  });
  const link = /https?:\S+\/welcome\?token=\S+/.exec(lines.join('\n'));
  output.on('line', (line) => console.log(toText(line).trimEnd()));
  return { url, welcomeLink: link?.[0], stop: () => void child.kill('SIGTERM'), ended };
}
