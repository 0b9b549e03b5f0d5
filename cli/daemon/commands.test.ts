import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';

test('the latest log lines are shown, including the older file, without terminal escapes', async () => {
  const home = makeFolder();
  const said = expect.stringContaining('The log is empty');
  expect(await run(['status', '--log'], { home })).toMatchObject({ exitCode: 0, stdout: '', stderr: said });
  write(join(home, 'state/daemon.log.1'), '2026-11-20T12:00:00.000Z info Stopped.\n');
  const path = write(join(home, 'state/daemon.log'), '2026-11-21T12:00:01.000Z warn Bad \u001b[31mthing.\nodd\n');
  expect(await run(['status', '--log'], { home })).toMatchObject({
    stdout: '2026-11-20T12:00:00.000Z info Stopped.\n2026-11-21T12:00:01.000Z warn Bad thing.\nodd\n',
    stderr: `From ${path}\n`,
  });
  write(path, 'line\n'.repeat(60));
  const { lines } = JSON.parse((await run(['status', '--log', '--json'], { home })).stdout);
  expect(lines).toEqual(Array(50).fill('line'));
});
