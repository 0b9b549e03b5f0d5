import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Context } from './context.ts';
import { Declined, EXIT, Failure } from './failure.ts';
import type { Output } from './output.ts';
import { toPlainText } from './terminal.ts';

/** Asks on the terminal for a text that is not shown. */
export async function askHidden(
  question: string,
  { stdin, stderr }: Pick<Context, 'stdin' | 'stderr'>,
): Promise<string> {
  stderr.write(question);
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  try {
    for await (const line of lines) return line.trim();
  } finally {
    lines.close();
    stderr.write('\n');
  }
  throw new Failure(EXIT.usage, 'Interrupted.');
}

export interface Asker {
  /** True only for a yes. */
  ask(question: string): Promise<boolean>;
  /** The typed text without surrounding blanks. Empty if nothing was typed. */
  askText(question: string): Promise<string>;
  close(): void;
}

/** Asks any number of questions on a terminal. An empty answer means no, and so does Ctrl-C. */
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

/** Says what will be lost, and asks. Throws a `Failure` if the answer is not yes, or if there is nobody to ask. */
export async function confirm(
  context: Context,
  output: Output,
  { lines, question }: { lines: readonly string[]; question: string },
): Promise<void> {
  if (!context.stdin.isTTY) {
    throw new Failure(EXIT.usage, 'There is no terminal to ask on.', 'Use --yes to skip the question.');
  }
  for (const line of lines) output.say(line);
  const asker = createAsker(context);
  const isWanted = await asker.ask(question).finally(asker.close);
  if (!isWanted) throw new Declined('Nothing was changed.');
}

/** All piped input. */
export const readInput = async ({ stdin }: Pick<Context, 'stdin'>): Promise<string> => (await text(stdin)).trim();
