import type { Context } from './context.ts';
import { Declined, EXIT, Failure } from './failure.ts';
import type { Output } from './output.ts';
import { createAsker } from './setup/ask.ts';

const END_OF_INPUT = '\u0004';
const LINE_END = new RegExp(`[\r\n${END_OF_INPUT}]`);
const INTERRUPT = '\u0003';

/** Asks on the terminal for something nobody should see over a shoulder. */
export async function askHidden(
  question: string,
  { stdin, stderr }: Pick<Context, 'stdin' | 'stderr'>,
): Promise<string> {
  stderr.write(question);
  stdin.setRawMode?.(true);
  let text = '';
  try {
    for await (const chunk of stdin) {
      const typed = String(chunk);
      if (typed.includes(INTERRUPT)) throw new Failure(EXIT.usage, 'Interrupted.');
      text = erase(text + typed);
      if (LINE_END.test(text)) break;
    }
  } finally {
    stdin.setRawMode?.(false);
    stderr.write('\n');
  }
  return text.split(LINE_END)[0]?.trim() ?? '';
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

/** Applies the backspaces among what was typed. */
function erase(typed: string): string {
  let text = '';
  for (const character of typed)
    text = character === '\u007f' || character === '\b' ? text.slice(0, -1) : text + character;
  return text;
}

/** All of what is piped in. */
export async function readInput({ stdin }: Pick<Context, 'stdin'>): Promise<string> {
  let text = '';
  for await (const chunk of stdin) text += String(chunk);
  return text.trim();
}
