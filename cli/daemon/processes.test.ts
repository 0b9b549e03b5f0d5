import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cline } from '../agents/cline/cline.ts';
import { kilo } from '../agents/kilo/kilo.ts';
import { makeFolder, write } from '../test/folder.ts';
import { findStoppedAgents } from './processes.ts';

const AGENTS = [
  { id: 'codex' as const, programs: ['odd-agent'] },
  { id: 'droid' as const, programs: ['other-agent', 'more-of-other'] },
  { id: 'cursor' as const },
];
const IDS = ['codex', 'droid', 'cursor'];

test.runIf(process.platform === 'linux')(
  'an agent counts as running while one of its programs runs, even inside another program',
  async () => {
    const run = async (name: string) => {
      const script = write(join(makeFolder(), name), 'setInterval(() => {}, 1000); console.log(1)');
      const child = spawn(process.execPath, ['--no-warnings', script], { stdio: ['ignore', 'pipe', 'ignore'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      return child;
    };
    const child = await run('odd-agent.js');
    expect(await findStoppedAgents(IDS, AGENTS, 'linux')).toEqual(['droid']);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await findStoppedAgents(IDS, AGENTS, 'linux')).toEqual(['codex', 'droid']);
    await run('more-of-other.mjs');
    expect(await findStoppedAgents(IDS, AGENTS, 'linux')).toEqual(['codex']);
  },
);

test.runIf(process.platform === 'linux')(
  'tasks of an editor extension continue while the editor runs, even with its name in capitals',
  async () => {
    const extensions = [cline, kilo];
    const ids = extensions.map(({ id }) => id);
    const known = await findStoppedAgents(ids, extensions, 'linux');
    const script = write(join(makeFolder(), 'Windsurf'), 'setInterval(() => {}, 1000); console.log(1)');
    const child = spawn(process.execPath, ['--no-warnings', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    expect(known.length === 0 || known.length === ids.length).toBe(true);
    expect(await findStoppedAgents(ids, extensions, 'linux')).toEqual([]);
  },
);

test('a system that does not list processes does not count as one without processes', async () => {
  expect(await findStoppedAgents(IDS, AGENTS, 'win32')).toEqual([]);
});
