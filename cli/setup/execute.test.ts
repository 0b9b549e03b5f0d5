import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { execute } from './execute.ts';

const run = (script: string, timeoutMs = 10_000) =>
  execute({ spawn, variables: { PATH: '/usr/bin:/bin' }, home: '/' }, ['/bin/sh', '-c', script], timeoutMs);

test('a program that leaves another one running is not waited for', async () => {
  expect(await run('sleep 20 & echo 1.2.3')).toEqual({ exitCode: 0, output: '1.2.3\n' });
}, 10_000);

test('a program that does not end is ended', async () => {
  expect(await run('echo begun; exec sleep 60', 300)).toEqual({ exitCode: undefined, output: 'begun\n' });
});

test("capture's secret is not handed to it", async () => {
  const variables = { PATH: '/usr/bin:/bin', CAPTURE_SECRET: 'sk_live_x' };
  const { output } = await execute({ spawn, variables, home: '/' }, ['/usr/bin/env'], 10_000);
  expect(output).not.toContain('sk_live_x');
});

test('a program that is not there is told as such', async () => {
  expect(await execute({ spawn, variables: {}, home: '/' }, ['/nowhere/at-all'], 1000)).toMatchObject({
    exitCode: undefined,
  });
});
