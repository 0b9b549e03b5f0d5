import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AGENTS } from '../../agents/all.ts';
import { collection, filesOf, readTranscripts } from './corpus.ts';

/** Files of the collection that are not transcripts of a supported agent, and the reason. */
const UNCLAIMED: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^INDEX\.md$/, 'the list of the files'],
  [/^(antigravity|grok|hermes|iflow|kimi|openclaw|traex|vibe)\//, 'files of an agent that is not captured'],
  [/^\w+\/generated\/(hooks-captured\.jsonl|stream-json-stdout\.jsonl)$/, 'input of hooks or output of the program'],
  [/^copilot\/generated\/(json-stdout|otel-file)\.jsonl$/, 'output or measurements of the program'],
  [/^gemini\/generated\/otel-outfile\.log$/, 'measurements of the program'],
  [/^opencode\/generated\/(plugin-events|run-json-stdout)\.jsonl$/, 'input of a plugin or output of the program'],
  [/^\w+\/generated\/[\w-]+\.(toml|json|sql|ts)$/, 'settings, schemas and a plugin'],
  [
    /^copilot\/generated\/session-state\/[^/]+\/(workspace\.yaml|checkpoints\/|rewind-file-snapshots\/)/,
    'state beside the transcript',
  ],
  [/^droid\/.*\/stream_json_\w+\.jsonl$/, 'output of the program'],
  [/^claude-code\/.*\.meta\.json$/, 'a repeatedly rewritten summary of a sub-agent, with less than its transcript'],
  [/^claude-code\/.*\/workflows\/wf_\w+\.json$/, 'the state of a workflow; its journal is a transcript'],
  [/^claude-code\/.*\/test_data\/cache\/\w+\.json$/, 'a file of another program'],
  [/^gemini\/.*\/schema_drift\.json$/, 'not a session, but an example of a future format'],
  [/^opencode\/.*\/storage_(legacy|v2)\//, 'files of old versions, which OpenCode has moved into its database'],
];

/** Exports that masking of their private parts has turned into invalid JSON. */
const BROKEN =
  /^opencode\/eitatech__gatomia-vscode\/(3e\/ab2bb11e16\/0|42\/9b26e0b2e0\/1|54\/cc9b44fcfe\/[01])\/full\.jsonl$/;

const root = collection();

describe.skipIf(root === undefined)('the collection', () => {
  const folder = root ?? '';
  const isFile = (path: string) => statSync(join(folder, path)).isFile();
  const list = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isFile);
  const paths = root === undefined ? [] : list().map((path) => path.split(sep).join('/'));
  const claimed = AGENTS.flatMap(filesOf).filter((file) => file.root.startsWith(folder));
  const claimedPaths = new Set(claimed.map(({ root, path }) => join(root, path).slice(folder.length + 1)));
  const unclaimed = paths.filter((path) => !claimedPaths.has(path));

  test('every file is a transcript of exactly one agent or listed with the reason why not', () => {
    expect(unclaimed.filter((path) => !UNCLAIMED.some(([pattern]) => pattern.test(path)))).toEqual([]);
    expect(claimed).toHaveLength(claimedPaths.size);
  });

  test('every listed reason applies to a file', () => {
    const isUsed = (pattern: RegExp) => unclaimed.some((path) => pattern.test(path));
    expect(UNCLAIMED.filter(([pattern]) => !isUsed(pattern))).toEqual([]);
  });

  test('every transcript can be read, except those with invalid JSON', () => {
    const unreadable = claimed.filter((file) => {
      try {
        return readTranscripts(file).length === 0;
      } catch {
        return true;
      }
    });
    const of = unreadable.map(({ root, path }) => join(root, path));
    expect(of.map((path) => path.slice(folder.length + 1)).filter((path) => !BROKEN.test(path))).toEqual([]);
    for (const path of of) expect(() => JSON.parse(readFileSync(path, 'utf8'))).toThrow('JSON');
    expect(of).toHaveLength(4);
  });
});

test.each(AGENTS.map((agent) => ({ name: agent.displayName, agent })))(
  '$name has fixtures with records',
  ({ agent }) => {
    const files = filesOf(agent);
    expect(files.flatMap(readableOnly)).not.toEqual([]);
  },
);

const readableOnly = (file: Parameters<typeof readTranscripts>[0]) =>
  file.root.includes('fixtures') ? readTranscripts(file).flatMap(({ lines }) => lines) : [];
