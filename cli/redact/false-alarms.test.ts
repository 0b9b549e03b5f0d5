import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createRedactor } from './redactor.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LIMIT = 20_000_000;

/** Files of other people and of this repository, in which hardly anything is a secret. */
function readTexts(folders: string[], skip: RegExp): string[] {
  const texts: string[] = [];
  let size = 0;
  for (const folder of folders) {
    for (const name of (readdirSync(join(ROOT, folder), { recursive: true }) as string[]).sort()) {
      if (!['.js', '.ts', '.md'].includes(extname(name)) || skip.test(join(folder, name))) continue;
      const text = readIfFile(join(ROOT, folder, name));
      texts.push(text);
      size += text.length;
      if (size > LIMIT) return texts;
    }
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

test.each([
  ['this repository', ['cli', 'contract', 'server', 'docs'], /cli\/redact|\.test\.ts$/],
  ['its dependencies', ['node_modules'], /session-capture/],
])('%s: less than one false alarm per megabyte', (_name, folders, skip) => {
  const redactor = createRedactor({ variables: {}, home: '/nowhere', key: new Uint8Array(32) });
  const texts = readTexts(folders, skip);
  const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };
  let alarms = 0;
  for (const output of texts) {
    const { redactions = {} } = redactor.redact({ eventType: 'tool.result', payload: { source, output } }).payload;
    alarms += Object.values(redactions).reduce((sum, count) => sum + count, 0);
  }
  const megabytes = texts.reduce((sum, text) => sum + text.length, 0) / 1e6;
  expect(alarms).toBeLessThan(Math.max(1, megabytes));
});
