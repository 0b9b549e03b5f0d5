import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { createStoppedAgents } from './processes.ts';

const AGENTS = [
  { id: 'codex' as const, programs: ['odd-agent'] },
  { id: 'droid' as const, programs: ['other-agent', 'more-of-other'] },
  { id: 'cursor' as const },
];
const IDS = ['codex', 'droid', 'cursor'];

test.runIf(process.platform === 'linux')(
  'an agent runs while its program does, also where another runs it',
  async () => {
    const script = write(join(makeFolder(), 'odd-agent.js'), 'setInterval(() => {}, 1000); console.log(1)');
    const child = spawn(process.execPath, ['--no-warnings', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    let now = 0;
    const findStopped = createStoppedAgents({ agents: AGENTS, platform: 'linux', tick: () => now });
    expect(await findStopped(IDS)).toEqual(['droid']);
    child.kill('SIGKILL');
    await once(child, 'exit');
    now += 60_000;
    expect(await findStopped(IDS)).toEqual(['codex', 'droid']);
  },
);

test('the system is asked once a minute at most, and not for nothing', async () => {
  let now = 0;
  let asked = 0;
  const list = async () => [['/usr/bin/node', asked++ === 0 ? '/usr/lib/odd-agent.mjs' : '/usr/lib/more-of-other']];
  const findStopped = createStoppedAgents({ agents: AGENTS, platform: 'linux', tick: () => now, list });
  expect(await findStopped(['cursor'])).toEqual([]);
  expect(asked).toBe(0);
  expect(await findStopped(IDS)).toEqual(['droid']);
  now += 59_000;
  expect(await findStopped(IDS)).toEqual(['droid']);
  now += 1000;
  expect(await findStopped(IDS)).toEqual(['codex']);
});

test('a system that does not tell is not taken for one on which nothing runs', async () => {
  expect(await createStoppedAgents({ agents: AGENTS, platform: 'win32', tick: () => 0 })(IDS)).toEqual([]);
});
