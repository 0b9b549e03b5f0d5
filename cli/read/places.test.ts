import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGENTS } from '../agents/all.ts';
import { makeFolder, write } from '../test/folder.ts';
import { findTranscripts } from './discover.ts';
import { placesOf } from './places.ts';

const CASES: [name: string, agent: string | undefined, path: string, found: string[]][] = [
  ['a file under a name of its own', 'pi', 'any/full.jsonl', ['pi full.jsonl']],
  ['a file of lines in a folder that contains sessions itself', 'custom', 'any/full.jsonl', ['custom full.jsonl']],
  ['a Markdown file', 'aider', 'shop/notes of aider.md', ['aider notes of aider.md']],
  ['the folder it is in', 'aider', 'shop', ['aider notes of aider.md']],
  ['a document', 'cline', 'data/tasks/1/ui_messages.json', ['cline 1/ui_messages.json']],
  ['one of two programs with the same id', 'kilo', 'old/1/ui_messages.json', ['kilo ui_messages.json']],
  ['a copy of an agent’s own folder', 'cline', 'data', ['cline s/s.json', 'cline 1/ui_messages.json']],
  ['a copy under the agent’s id, each file once', undefined, 'copied', ['pi sessions/a.jsonl']],
];

const refuse = () => expect.unreachable('the path tells it');

test.each(CASES)('finds %s', (_name, agent, path, found) => {
  const folder = copies();
  const agents = AGENTS.filter(({ id }) => agent === undefined || id === agent);
  const places = placesOf(path, { agents, variables: {}, home: join(folder, 'home'), folder }, refuse);
  expect(findTranscripts(places, () => {}).map(({ agent, path }) => `${agent.id} ${path}`)).toEqual(found);
});

test('the agents are asked for if the path does not name them, and each gets its transcripts', () => {
  const folder = copies();
  const asked: string[] = [];
  const recognize = (path: string) => {
    asked.push(path);
    return AGENTS.filter(({ id }) => id === 'pi' || id === 'aider');
  };
  const options = { agents: AGENTS, variables: {}, home: join(folder, 'home'), folder };
  const places = placesOf('any', options, recognize);
  expect(findTranscripts(places, () => {}).map(({ agent, path }) => `${agent.id} ${path}`)).toEqual(['pi full.jsonl']);
  expect(asked).toEqual([join(folder, 'any')]);
});

test('a circular link does not block other links', () => {
  const [agent] = AGENTS.filter(({ id }) => id === 'pi');
  const root = makeFolder();
  const elsewhere = makeFolder();
  write(join(elsewhere, 'a.jsonl'), '{}\n');
  for (const name of ['a', 'z']) symlinkSync(join(root, name), join(root, name));
  symlinkSync(elsewhere, join(root, 'linked'));
  const troubles: string[] = [];
  const found = agent ? findTranscripts([{ agent, root, below: '' }], ({ path }) => troubles.push(path)) : [];
  expect(found.map(({ path }) => path)).toEqual(['linked/a.jsonl']);
  expect(troubles.sort()).toEqual([join(root, 'a'), join(root, 'z')]);
});

function copies(): string {
  const folder = makeFolder();
  mkdirSync(join(folder, 'home'));
  write(join(folder, 'any/full.jsonl'), '{}\n');
  write(join(folder, 'shop/notes of aider.md'), '# aider chat started at 2026-01-01 00:00:00\n');
  write(join(folder, 'data/tasks/1/ui_messages.json'), '[]');
  write(join(folder, 'data/sessions/s/s.json'), '{}');
  write(join(folder, 'old/1/ui_messages.json'), '[]');
  write(join(folder, 'copied/pi/sessions/a.jsonl'), '{}\n');
  return folder;
}
