import { createInterface } from 'node:readline';
import type { Context } from '../context.ts';
import { toPlainText } from '../terminal.ts';

export interface Asker {
  /** True only for a yes. */
  ask(question: string): Promise<boolean>;
  close(): void;
}

/** Asks questions on a terminal, any number of them, and takes silence for a no, and Ctrl-C. */
export function createAsker({ stdin, stderr, stop }: Pick<Context, 'stdin' | 'stderr' | 'stop'>): Asker {
  const lines = createInterface({ input: stdin, terminal: false, signal: stop });
  const answers = lines[Symbol.asyncIterator]();
  return {
    async ask(question) {
      stderr.write(`${toPlainText(question)} [y/N] `);
      const { value, done } = await answers.next();
      if (done) stderr.write('\n');
      return !done && /^\s*(y|yes)\s*$/i.test(value);
    },
    close: () => lines.close(),
  };
}
