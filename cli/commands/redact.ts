import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { JsonObject } from '../agents/agent.ts';
import { defineCommand, flag, text } from '../command.ts';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { codeOf, EXIT, Failure } from '../failure.ts';
import { formatCount } from '../output.ts';
import { openRedactor } from '../pipeline.ts';
import { preferencesPath } from '../privacy/preferences.ts';
import { folderOf } from '../read/record.ts';
import type { Redactor } from '../redact/redactor.ts';

export const redactCommand = defineCommand({
  name: 'redact',
  summary: 'show a file as it would be captured, without secrets',
  description: 'Shows a transcript or any other text with its secrets masked. Sends and stores nothing.',
  examples: [
    ['capture redact --test session.jsonl', 'what would be captured of a file'],
    ['git diff | capture redact --test - --fail', 'in a script, before something is shared'],
  ],
  takes: {
    test: text('--test <file>', 'the file; - for what is piped in'),
    fail: flag('--fail', 'exit with 1 when something would be masked'),
  },
  async run(context, { test, fail }, output) {
    if (test === undefined) {
      const hint = 'Name a file: `capture redact --test FILE`, - for stdin.';
      throw new Failure(EXIT.usage, 'There is nothing to test.', hint);
    }
    const redactor = openRedactor(context, { folder: stateFolder(context), settings: readSettings(context) });
    const { masked, totals } = maskText(redactor, context.folder, await readText(context, test));
    const secrets = Object.values(totals).reduce((sum, count) => sum + count, 0);
    output.answer({ rules: redactor.rules, secrets, totals, text: masked }, [masked.replace(/\n$/, '')]);
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

/** As captured: a transcript line by line, any other text as if a tool had printed it. Secrets are counted by rule. */
function maskText(redactor: Redactor, folder: string, given: string) {
  const source = { agent: '', session: '', file: '', position: 0 };
  const totals: { [rule: string]: number } = {};
  // The secrets of the folder that we are in count, and then those of the folder of each record.
  redactor.redact([], { session: '', folder });
  const lines = given.split(/(?<=\n)/);
  const isTranscript = readRecord(lines[0] ?? '') !== undefined;
  const masked = (isTranscript ? lines : [given]).map((piece) => {
    const record = readRecord(piece);
    const event: CapturedEvent = { eventType: 'record', payload: { source, rest: piece } };
    const [after = event] = redactor.redact([event], { session: '', folder: record && folderOf(record) });
    for (const [rule, count] of Object.entries(after.payload.redactions ?? {})) {
      totals[rule] = (totals[rule] ?? 0) + count;
    }
    return after.eventType === 'record' ? String(after.payload.rest) : '';
  });
  return { masked: masked.join(''), totals };
}

function readRecord(line: string): JsonObject | undefined {
  if (!/^\s{0,64}\{/.test(line)) return undefined;
  try {
    return JSON.parse(line) as JsonObject;
  } catch {
    return undefined;
  }
}
