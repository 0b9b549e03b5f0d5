import { expect, test } from 'vitest';
import { killLeftovers, startProcess } from './process.ts';

/** A program of Node that runs these statements. */
const run = (code: string) => startProcess([process.execPath, '-e', code], { env: {} });
const STAY = 'setInterval(() => {}, 1000)';

test('the words that a program is waited for may come in pieces, on either stream', async () => {
  const program = run(
    `process.stderr.write('is re'); setTimeout(() => process.stderr.write('ady at here\\n'), 50); ${STAY}`,
  );
  const [, place] = await program.until(/is ready at (\S+)\n/);
  expect(place).toBe('here');
  expect([program.output(), program.stdout()]).toEqual(['is ready at here\n', '']);
  expect(program.isRunning()).toBe(true);
  expect(await program.end('SIGTERM')).toBe('SIGTERM');
  expect(program.isRunning()).toBe(false);
});

test('a program that ends before it says the words is reported with its output and exit code', async () => {
  const program = run(`console.log('one'); console.error('no disk'); process.exitCode = 3`);
  await expect(program.until(/is ready/)).rejects.toThrow(/ended with 3 before it said .*:\n.*no disk/s);
  expect(await program.ended).toBe(3);
});

test('all output of a program that has ended is there, however long it is', async () => {
  const program = run(`process.stdout.write('x'.repeat(3_000_000))`);
  await program.ended;
  expect(program.stdout()).toHaveLength(3_000_000);
});

test('a program counts as ended although a program that it started keeps its output open', async () => {
  const child = `require('child_process').spawn('sleep', ['30'], { stdio: 'inherit' })`;
  const program = run(`console.log(${child}.pid); process.exit(0)`);
  expect(await program.ended).toBe(0);
  process.kill(Number(program.stdout()));
});

test('a program that a failed test has left is killed', async () => {
  const program = run(STAY);
  killLeftovers();
  expect(await program.ended).toBe('SIGKILL');
});
