import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A terminal in which one command runs. The test reads it and types into it like a person. */
export interface Terminal {
  /** Resolves with the match as soon as it is written. Rejects with the whole output if the command ends before. */
  read(expression: RegExp): Promise<RegExpExecArray>;
  type(text: string): void;
  /** @returns the exit code */
  ended: Promise<number>;
}

/** Runs the command in a shell with a terminal of its own, which `script` of util-linux creates. */
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
