import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { JsonObject } from '../agents/agent.ts';
import { defineCommand, flag, texts } from '../command.ts';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { codeOf, EXIT, Failure } from '../failure.ts';
import { formatCount } from '../output.ts';
import { openRedactor } from '../pipeline.ts';
import { preferencesPath } from '../preferences.ts';
import { folderOf } from '../read/record.ts';
import type { Redactor } from '../redact/redactor.ts';
import { RULES } from '../redact/rules/all.ts';

/** Of secrets, by rule. */
type Counts = { readonly [rule: string]: number };

interface FileReport {
  file: string;
  text: string;
  counts: Counts;
}

export const redactCommand = defineCommand({
  name: 'redact',
  summary: 'show a file as it would be captured, without secrets',
  description: 'Shows a transcript or any other text with its secrets masked. Sends and stores nothing.',
  examples: [
    ['capture redact --test session.jsonl', 'what would be captured of a file'],
    ['git diff | capture redact --test - --fail', 'in a script, before something is shared'],
  ],
  options: {
    test: texts('--test <file...>', 'the files; - for what is piped in'),
    listRules: flag('--list-rules', 'list the rules instead'),
    fail: flag('--fail', 'exit with 1 when something would be masked'),
  },
  async run(context, { test, listRules, fail }, output) {
    if (listRules) {
      const rules = RULES.map(({ id, keywords }) => ({ id, keywords: keywords.join(' ') }));
      const lines = rules.map(({ id, keywords }) => `${id.padEnd(32)}  ${keywords}`);
      return output.answer({ rules }, lines);
    }
    if (test.length === 0) {
      throw new Failure(
        EXIT.usage,
        'There is nothing to test.',
        'Name files: `capture redact --test FILE`, - for stdin.',
      );
    }
    const redactor = openRedactor(context, { folder: stateFolder(context), settings: readSettings(context) });
    const files: FileReport[] = [];
    for (const file of test) files.push(maskFile(redactor, context.folder, file, await readText(context, file)));
    const totals = addUp(files.map(({ counts }) => counts));
    const secrets = Object.values(totals).reduce((sum, count) => sum + count, 0);
    const lines = files.map(({ text }) => text.replace(/\n$/, ''));
    output.answer({ rules: redactor.rules, secrets, totals, files }, lines);
    const parts = Object.entries(totals).map(([rule, count]) => `${rule} ${count}`);
    output.say(`${formatCount(secrets, 'secret')} masked${secrets === 0 ? '' : `: ${parts.join(', ')}`}.`);
    if (secrets === 0) return;
    output.say(`A false alarm? "redaction": { "allow": [MARK] } in ${preferencesPath(context)} lets it through.`);
    if (fail) throw new Failure(EXIT.failure, `${formatCount(secrets, 'secret')} would be masked.`);
  },
});

async function readText(context: Context, file: string): Promise<string> {
  if (file === '-') return readAll(context.stdin);
  try {
    return readFileSync(resolve(context.folder, file), 'utf8');
  } catch (error) {
    throw new Failure(EXIT.usage, `${file} cannot be read (${codeOf(error) ?? error}).`, 'Check the path.', error);
  }
}

/** As captured: a transcript line by line, any other text as if a tool had printed it. */
function maskFile(redactor: Redactor, folder: string, file: string, text: string): FileReport {
  const source = { agent: '', session: '', file: '', position: 0 };
  const counts: Counts[] = [];
  // The secrets of the folder that we are in count, and then those of the folder of each record.
  redactor.redact([], { session: '', folder });
  const lines = text.split(/(?<=\n)/);
  const isTranscript = readRecord(lines[0] ?? '') !== undefined;
  const masked = (isTranscript ? lines : [text]).map((piece) => {
    const record = readRecord(piece);
    const event: CapturedEvent = { eventType: 'record', payload: { source, rest: piece } };
    const [after = event] = redactor.redact([event], { session: '', folder: record && folderOf(record) });
    counts.push(after.payload.redactions ?? {});
    return after.eventType === 'record' ? String(after.payload.rest) : '';
  });
  return { file, text: masked.join(''), counts: addUp(counts) };
}

function readRecord(line: string): JsonObject | undefined {
  if (!/^\s{0,64}\{/.test(line)) return undefined;
  try {
    return JSON.parse(line) as JsonObject;
  } catch {
    return undefined;
  }
}

/** The most frequent rule first. */
function addUp(counts: readonly Counts[]): Counts {
  const totals: { [rule: string]: number } = {};
  for (const [rule, count] of counts.flatMap((one) => Object.entries(one))) {
    totals[rule] = (totals[rule] ?? 0) + count;
  }
  return Object.fromEntries(Object.entries(totals).sort(([, one], [, other]) => other - one));
}
