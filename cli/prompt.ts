import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Context } from './context.ts';
import { Declined, EXIT, Failure } from './failure.ts';
import type { Output } from './output.ts';
import { createAsker } from './setup/ask.ts';

/** Asks on the terminal for something nobody should see over a shoulder. */
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

/** Says what will be lost, and asks; throws a `Failure` where the answer is not yes, or there is nobody to ask. */
export async function confirm(
  context: Context,
  output: Output,
  { lines, question, declined }: { lines: readonly string[]; question: string; declined: string },
): Promise<void> {
  if (!context.stdin.isTTY) {
    throw new Failure(EXIT.usage, 'There is no terminal to ask on.', 'Give --yes, and nothing is asked.');
  }
  for (const line of lines) output.say(line);
  const asker = createAsker(context);
  const isWanted = await asker.ask(question).finally(asker.close);
  if (!isWanted) throw new Declined(declined);
}

/** All of what is piped in. */
export const readInput = async ({ stdin }: Pick<Context, 'stdin'>): Promise<string> => (await text(stdin)).trim();
