import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { createRunningPrograms } from './processes.ts';

test.runIf(process.platform === 'linux')(
  'a program that runs is told by its name, also where another runs it',
  async () => {
    const script = write(join(makeFolder(), 'odd-agent.js'), 'setInterval(() => {}, 1000); console.log(1)');
    const child = spawn(process.execPath, ['--no-warnings', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    let now = 0;
    const running = createRunningPrograms({ platform: 'linux', tick: () => now });
    expect(await running(['odd-agent', 'other-agent'])).toEqual(new Set(['odd-agent']));
    child.kill('SIGKILL');
    await once(child, 'exit');
    now += 60_000;
    expect(await running(['odd-agent', 'other-agent'])).toEqual(new Set());
  },
);

test('the system is asked once a minute at most', async () => {
  let now = 0;
  let asked = 0;
  const list = async () => [['/usr/bin/node', `/usr/lib/agent-${++asked}.mjs`]];
  const running = createRunningPrograms({ platform: 'linux', tick: () => now, list });
  const names = ['agent-1', 'agent-2'];
  expect(await running(names)).toEqual(new Set(['agent-1']));
  now += 59_000;
  expect(await running(names)).toEqual(new Set(['agent-1']));
  now += 1000;
  expect(await running(names)).toEqual(new Set(['agent-2']));
});

test('a system that does not tell is not taken for one on which nothing runs', async () => {
  expect(await createRunningPrograms({ platform: 'win32', tick: () => 0 })(['claude'])).toBeUndefined();
});
