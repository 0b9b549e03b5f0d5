import type { Context } from '../context.ts';
import { execute } from './execute.ts';
import type { Supervisor } from './supervisor.ts';

const ASK_MS = 5000;
const KEY = 'HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run';
const NAME = 'Session Capture';
/** Windows documents that it starts no longer command line from there. */
const LONGEST_LINE = 260;

/** Without a window of its own, which a program for the console would have. */
export const headlessLine = ({ program }: Pick<Context, 'program'>): string =>
  ['conhost.exe --headless', ...program.map((word) => `"${word}"`), 'run', '--quiet'].join(' ');

/**
 * What Windows starts when a person signs in, and does not start again when it ends. Everybody may write it for himself,
 * whereas making a task that runs at each sign-in is for administrators on many machines.
 */
export const runKey: Supervisor = {
  kind: 'run-key',
  name: 'the Run key of Windows',
  isAvailable: async (context) => headlessLine(context).length <= LONGEST_LINE,
  start: (context) => [
    ['powershell', '-NoProfile', '-NonInteractive', '-EncodedCommand', encode(startNow(context))],
    ['reg', 'add', KEY, '/v', NAME, '/t', 'REG_SZ', '/d', headlessLine(context), '/f'],
  ],
  async findTrouble(context) {
    const { exitCode } = await execute(context, ['reg', 'query', KEY, '/v', NAME], ASK_MS);
    return exitCode === 0 ? undefined : `there is no “${NAME}” in ${KEY}`;
  },
  stop: () => [['reg', 'delete', KEY, '/v', NAME, '/f']],
};

/** It outlives the terminal that it was started in and holds none of its files open. */
function startNow({ program: [first = '', ...others] }: Pick<Context, 'program'>): string {
  const words = [...others.map((word) => `"${word}"`), 'run', '--quiet'].join(' ');
  return `Start-Process -WindowStyle Hidden -FilePath ${quote(first)} -ArgumentList ${quote(words)}`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const encode = (command: string): string => Buffer.from(command, 'utf16le').toString('base64');
