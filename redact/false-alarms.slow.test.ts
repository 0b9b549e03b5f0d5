import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { AGENTS } from '../cli/agents/all.ts';
import { collection, transcriptsOf } from '../cli/test/agents/corpus.ts';
import { redactOne } from '../cli/test/redacting.ts';
import type { CapturedEvent } from '../transcript/vocabulary.ts';
import { createRedactor } from './redactor.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const LIMIT = 20_000_000;

/** Files of other people and of this repository, from many folders. They contain hardly any secrets. */
function readTexts(folders: string[], skip: RegExp): string[] {
  const names = folders
    .flatMap((folder) =>
      (readdirSync(join(ROOT, folder), { recursive: true }) as string[]).map((name) => join(folder, name)),
    )
    .filter((name) => ['.js', '.ts', '.md', '.json'].includes(extname(name)) && !skip.test(name))
    .map((name) => ({ name, place: createHash('sha1').update(name).digest('hex') }))
    .sort((one, other) => (one.place < other.place ? -1 : 1));
  const texts: string[] = [];
  let size = 0;
  for (const { name } of names) {
    const text = readIfFile(join(ROOT, name));
    texts.push(text);
    size += text.length;
    if (size > LIMIT) break;
  }
  return texts;
}

function readIfFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const options = { key: new Uint8Array(32) };
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };

/** Marks per megabyte in files with hardly any secrets. */
function countAlarms(texts: readonly string[], toRest: (text: string) => unknown): number {
  const redactor = createRedactor(options);
  let alarms = 0;
  for (const [index, text] of texts.entries()) {
    const event: CapturedEvent = { eventType: 'record', payload: { source, rest: toRest(text) } };
    const { redactions = {} } = redactOne(redactor, event, { session: `codex ${index}` }).payload;
    alarms += Object.values(redactions).reduce((sum, count) => sum + count, 0);
  }
  return alarms / Math.max(1, texts.reduce((sum, text) => sum + text.length, 0) / 1e6);
}

test.each([
  [
    'this repository',
    ['cli', 'contract', 'transcript', 'server', 'docs'],
    /cli\/redact|cli\/test\/redaction|\.test\.ts$/,
  ],
  ['its dependencies', ['node_modules'], /session-capture|\/tests?\/|\.test\.|\.examples\./],
])('%s: less than one false alarm per megabyte', (_name, folders, skip) => {
  expect(countAlarms(readTexts(folders, skip), (text) => text)).toBeLessThan(1);
});

const transcripts = AGENTS.map((agent) => [agent.id, agent] as const).filter(
  ([, agent]) => transcriptsOf(agent).length,
);

// The samples of this repository contain secrets on purpose.
test.skipIf(collection() === undefined).each(transcripts)(
  'public transcripts of %s: less than one mark per megabyte, test secrets included',
  (_id, agent) => {
    const lines = transcriptsOf(agent).flatMap((transcript) => transcript.lines);
    let size = 0;
    const sample = lines.filter((line) => {
      size += line.length;
      return size < LIMIT;
    });
    expect(countAlarms(sample, JSON.parse)).toBeLessThan(1);
  },
  120_000,
);
