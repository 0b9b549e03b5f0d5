import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { formatCount } from '../../contract/count.ts';
import { cutUp } from '../../redact/pieces.ts';
import type { Redactor } from '../../redact/redactor.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import type { JsonObject } from '../agents/agent.ts';
import { defineCommand, flag, text } from '../command.ts';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { codeOf, EXIT, Failure } from '../failure.ts';
import { openRedactor } from '../pipeline.ts';
import { preferencesPath } from '../privacy/preferences.ts';
import { folderOf } from '../read/record.ts';

export const redactCommand = defineCommand({
  name: 'redact',
  summary: 'show a file as it would be captured, without secrets',
  description: 'Shows a transcript or any other text with its secrets masked. Sends and stores nothing.',
  examples: [
    ['capture redact --test session.jsonl', 'shows a file as it would be captured'],
    ['git diff | capture redact --test - --fail', 'fails in a script if there is a secret'],
  ],
  takes: {
    test: text('--test <file>', 'the file; - for standard input'),
    fail: flag('--fail', 'exit with 1 when something would be masked'),
  },
  async run(context, { test, fail }, output) {
    if (test === undefined) {
      const hint = 'Name a file: `capture redact --test FILE`, or - for standard input.';
      throw new Failure(EXIT.usage, 'There is nothing to test.', hint);
    }
    const redactor = openRedactor(context, { folder: stateFolder(context), settings: readSettings(context) });
    const mask = createMask(redactor, context.folder);
    // Programs get one object with the whole text. People get each piece as soon as it is masked.
    const pieces: string[] = [];
    for await (const piece of readPieces(openText(context, test))) {
      const masked = mask.maskPiece(piece);
      if (output.json) pieces.push(masked);
      else output.answer({}, [masked.replace(/\n$/, '')]);
    }
    const { totals } = mask;
    const secrets = Object.values(totals).reduce((sum, count) => sum + count, 0);
    if (output.json) output.answer({ rules: redactor.rules, secrets, totals, text: pieces.join('') }, []);
    const parts = Object.entries(totals).map(([rule, count]) => `${rule} ${count}`);
    output.say(`${formatCount(secrets, 'secret')} masked${secrets === 0 ? '' : `: ${parts.join(', ')}`}.`);
    if (secrets === 0) return;
    output.say(`A false alarm? "redaction": { "allow": [MARK] } in ${preferencesPath(context)} lets it through.`);
    if (fail) throw new Failure(EXIT.failure, `${formatCount(secrets, 'secret')} would be masked.`);
  },
});

async function* openText(context: Context, file: string): AsyncGenerator<string> {
  const input = file === '-' ? context.stdin : createReadStream(resolve(context.folder, file));
  const decoder = new TextDecoder();
  try {
    for await (const chunk of input) yield typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
  } catch (error) {
    throw new Failure(EXIT.usage, `${file} cannot be read (${codeOf(error) ?? error}).`, 'Check the path.', error);
  }
  yield decoder.decode();
}

/** For a text that is not a transcript: reads this many characters before masking a piece. */
const READ_AHEAD = 4 * 1024 * 1024;

/** Yields the lines of a transcript. Yields any other text in pieces of whole lines, as if a tool had printed them. */
async function* readPieces(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let unread: string[] = [];
  let length = 0;
  let isTranscript: boolean | undefined;
  for await (const chunk of chunks) {
    unread.push(chunk);
    length += chunk.length;
    const isEnough = isTranscript === false ? length > READ_AHEAD : chunk.includes('\n');
    if (!isEnough) continue;
    const text = unread.join('');
    isTranscript ??= readRecord(text.slice(0, text.indexOf('\n'))) !== undefined;
    const pieces = isTranscript ? splitLines(text) : length > READ_AHEAD ? joinLines(cutUp(text)) : [text];
    const unfinished = pieces.pop() ?? '';
    yield* pieces;
    unread = [unfinished];
    length = unfinished.length;
  }
  const text = unread.join('');
  if (text !== '') yield* isTranscript === false ? joinLines(cutUp(text)) : splitLines(text).filter(Boolean);
}

/** Each line keeps its line feed; the last one has none. */
function splitLines(text: string): string[] {
  const lines: string[] = [];
  let from = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
    lines.push(text.slice(from, end + 1));
    from = end + 1;
  }
  return [...lines, text.slice(from)];
}

/** Joins each piece that ends within a line with the next piece, so that every piece is printed as whole lines. */
function joinLines(pieces: readonly string[]): string[] {
  const joined: string[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last === undefined || last.endsWith('\n')) joined.push(piece);
    else joined[joined.length - 1] = last + piece;
  }
  return joined;
}

/** Masks as capture does, and counts the secrets by rule. */
function createMask(redactor: Redactor, folder: string) {
  const source = { agent: '', session: '', file: '', position: 0 };
  const totals: { [rule: string]: number } = {};
  // The secrets of the current folder are loaded first. Those of each record's folder are added later.
  redactor.redact([], { session: '', folder });
  return {
    totals,
    maskPiece(piece: string): string {
      const record = readRecord(piece);
      const event: CapturedEvent = { eventType: 'record', payload: { source, rest: piece } };
      const [after = event] = redactor.redact([event], { session: '', folder: record && folderOf(record) });
      for (const [rule, count] of Object.entries(after.payload.redactions ?? {})) {
        totals[rule] = (totals[rule] ?? 0) + count;
      }
      return after.eventType === 'record' ? String(after.payload.rest) : '';
    },
  };
}

function readRecord(line: string): JsonObject | undefined {
  if (!/^\s{0,64}\{/.test(line)) return undefined;
  try {
    return JSON.parse(line) as JsonObject;
  } catch {
    return undefined;
  }
}
