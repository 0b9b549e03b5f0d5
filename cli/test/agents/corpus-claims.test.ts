import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AGENTS } from '../../agents/all.ts';
import { collection, filesOf, readTranscripts } from './corpus.ts';

/** What of the collection is no transcript of an agent that can be read, and why. */
const UNCLAIMED: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^INDEX\.md$/, 'the list of the files'],
  [/^(antigravity|grok|hermes|iflow|kimi|openclaw|traex|vibe)\//, 'of an agent that is not captured'],
  [/^\w+\/generated\/(hooks-captured\.jsonl|stream-json-stdout\.jsonl)$/, 'input of hooks, or output of the program'],
  [/^copilot\/generated\/(json-stdout|otel-file)\.jsonl$/, 'what the program printed or measured'],
  [/^gemini\/generated\/otel-outfile\.log$/, 'what the program measured'],
  [/^opencode\/generated\/(plugin-events|run-json-stdout)\.jsonl$/, 'input of a plugin, or output of the program'],
  [/^\w+\/generated\/[\w-]+\.(toml|json|sql|ts)$/, 'settings, schemas and a plugin'],
  [
    /^copilot\/generated\/session-state\/[^/]+\/(workspace\.yaml|checkpoints\/|rewind-file-snapshots\/)/,
    'state beside it',
  ],
  [/^droid\/.*\/stream_json_\w+\.jsonl$/, 'what the program printed'],
  [/^claude-code\/.*\.meta\.json$/, 'about a sub-agent, rewritten, with less than its transcript'],
  [/^claude-code\/.*\/workflows\/wf_\w+\.json$/, 'the state of a workflow, whose journal is a transcript'],
  [/^claude-code\/.*\/test_data\/cache\/\w+\.json$/, 'made by another program'],
  [/^gemini\/.*\/schema_drift\.json$/, 'no session, but what might be one some day'],
  [/^opencode\/.*\/storage_(legacy|v2)\//, 'of versions whose files OpenCode took over into its database'],
];

/** Exports that are not JSON after masking their private parts. */
const BROKEN =
  /^opencode\/eitatech__gatomia-vscode\/(3e\/ab2bb11e16\/0|42\/9b26e0b2e0\/1|54\/cc9b44fcfe\/[01])\/full\.jsonl$/;

const root = collection();

describe.skipIf(root === undefined)('of the collection', () => {
  const folder = root ?? '';
  const isFile = (path: string) => statSync(join(folder, path)).isFile();
  const list = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isFile);
  const paths = root === undefined ? [] : list().map((path) => path.split(sep).join('/'));
  const claimed = AGENTS.flatMap(filesOf).filter((file) => file.root.startsWith(folder));
  const claimedPaths = new Set(claimed.map(({ root, path }) => join(root, path).slice(folder.length + 1)));
  const unclaimed = paths.filter((path) => !claimedPaths.has(path));

  test('every file is a transcript of one agent, or listed with the reason why not', () => {
    expect(unclaimed.filter((path) => !UNCLAIMED.some(([pattern]) => pattern.test(path)))).toEqual([]);
    expect(claimed).toHaveLength(claimedPaths.size);
  });

  test('no reason is left over', () => {
    const isUsed = (pattern: RegExp) => unclaimed.some((path) => pattern.test(path));
    expect(UNCLAIMED.filter(([pattern]) => !isUsed(pattern))).toEqual([]);
  });

  test('every transcript can be read, but for those that are no JSON', () => {
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
  '$name has files to be tried on',
  ({ agent }) => {
    const files = filesOf(agent);
    expect(files.flatMap(readableOnly)).not.toEqual([]);
  },
);

const readableOnly = (file: Parameters<typeof readTranscripts>[0]) =>
  file.root.includes('fixtures') ? readTranscripts(file).flatMap(({ lines }) => lines) : [];
