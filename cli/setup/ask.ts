import { createInterface } from 'node:readline';
import type { Context } from '../context.ts';
import { toPlainText } from '../terminal.ts';

export interface Asker {
  /** True only for a yes. */
  ask(question: string): Promise<boolean>;
  /** What was typed, without blanks around it; empty where nothing was. */
  askText(question: string): Promise<string>;
  close(): void;
}

/** Asks questions on a terminal, any number of them, and takes silence for a no, and Ctrl-C. */
export function createAsker({ stdin, stderr, stop }: Pick<Context, 'stdin' | 'stderr' | 'stop'>): Asker {
  const lines = createInterface({ input: stdin, terminal: false, signal: stop });
  const answers = lines[Symbol.asyncIterator]();

  async function askText(question: string): Promise<string> {
    stderr.write(`${toPlainText(question)} `);
    const { value, done } = await answers.next();
    if (done) stderr.write('\n');
    return done ? '' : value.trim();
  }

  return {
    ask: async (question) => /^(y|yes)$/i.test(await askText(`${question} [y/N]`)),
    askText,
    close: () => lines.close(),
  };
}
