import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A terminal in which one line runs, as a person sees it and types into it. */
export interface Terminal {
  /** Resolves with what matches, as soon as it is written. Rejects with all that was written where the line ends before. */
  read(expression: RegExp): Promise<RegExpExecArray>;
  type(text: string): void;
  /** @returns the exit code */
  ended: Promise<number>;
}

/** Runs the line in a shell on a terminal of its own: util-linux's `script` has one made. */
export function openTerminal(line: string, env: Record<string, string>): Terminal {
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    cwd: env.HOME,
    env: { SHELL: '/bin/sh', TERM: 'dumb', ...env },
  });
  let written = '';
  let from = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
    child.emit('written');
  });
  const ended = once(child, 'close').then(([code]) => code as number);
  return {
    async read(expression) {
      for (;;) {
        const found = expression.exec(written.slice(from));
        if (found) {
          from += found.index + found[0].length;
          return found;
        }
        if (child.exitCode !== null) throw new Error(`the line ended with ${child.exitCode}:\n${written}`);
        await Promise.race([once(child, 'written'), ended]);
      }
    },
    type: (text) => void child.stdin.write(text),
    ended,
  };
}
