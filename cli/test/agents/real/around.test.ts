import { existsSync, globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Driver, type Place, type Turn, writeJson } from './driver.ts';
import { claudeCode } from './drivers/claude-code.ts';
import { cline } from './drivers/cline.ts';
import { olderPi, pi } from './drivers/pi.ts';
import { createMachine, type Machine } from './machine.ts';
import { findMissing } from './missing.ts';
import { PAUSE, startModel } from './model/server.ts';
import { startService } from './service.ts';

/** Less usual ways to work with agents. Each is tested with one agent, since others would add nothing. */
const AGENTS = process.env.CAPTURE_TEST_AGENTS ?? join(import.meta.dirname, '../../../../artefacts/agents');

const DIARY = 'git.example.com/robin/diary';
const WITHIN = { timeout: 30_000, interval: 200 };

let model: Awaited<ReturnType<typeof startModel>>;
let service: Awaited<ReturnType<typeof startService>>;
let machine: Machine;

beforeAll(async () => {
  if (!existsSync(join(AGENTS, 'node_modules'))) throw new Error(`The agents are not installed in ${AGENTS}.`);
  model = await startModel();
});
afterAll(() => model.close());

beforeEach(async () => {
  service = await startService();
  const { url: serviceUrl, secret } = service;
  machine = createMachine({ agents: AGENTS, modelUrl: model.url, serviceUrl, secret });
});
afterEach(async () => {
  await machine.clear();
  await service.close();
});

const allEvents = async () => [...(await service.events()).values()].flat();

/** The text of every event that the service has. */
const arrived = async () => JSON.stringify(await allEvents());

async function startCapture() {
  const capture = machine.startCapture('run');
  await expect.poll(capture.output, WITHIN).toContain('Stop with Ctrl-C');
  return capture;
}

async function stopCapture(capture: Awaited<ReturnType<typeof startCapture>>): Promise<void> {
  await capture.end('SIGTERM');
}

async function work(driver: Driver, place: Place, turn: Omit<Turn, 'session'> & { session?: string }): Promise<void> {
  const ended = await machine.end(machine.startAgent(driver, { session: '', ...turn }, place));
  expect(ended, ended.output).toMatchObject({ code: 0 });
}

/** Runs a turn, waits until it is captured, and returns the agent's own id of its session. */
async function workCaptured(...[driver, place, turn]: Parameters<typeof work>): Promise<string> {
  await work(driver, place, turn);
  await expect.poll(arrived, WITHIN).toContain(turn.prompt);
  return await sessionWith(turn.prompt);
}

async function sessionWith(prompt: string): Promise<string> {
  const prompts = (await allEvents()).filter(({ eventType }) => eventType === 'user.message');
  return prompts.find((event) => JSON.stringify(event).includes(prompt))?.payload.source.session ?? '';
}

async function expectVerified(): Promise<void> {
  const verified = await machine.end(machine.startCapture('verify'));
  expect(verified, verified.output).toMatchObject({ code: 0 });
}

/** Waits for a later session first: capture reads in order, so earlier text would have arrived before it. */
async function expectNothingOf(keptBack: string, later: Place): Promise<void> {
  await workCaptured(claudeCode, later, { how: 'start', prompt: 'Write the file, please: later' });
  expect(await arrived()).not.toContain(keptBack);
}

test('a session of a worktree that is deleted before capture starts arrives whole', async () => {
  const place = machine.createProject('shop');
  const worktree = machine.createWorktree(place, 'beside');
  await stopCapture(await startCapture());
  await work(claudeCode, worktree, { how: 'start', prompt: 'Write the file, please: in the worktree' });
  rmSync(worktree.folder, { recursive: true });
  await startCapture();
  await expect.poll(arrived, WITHIN).toContain('in the worktree');
  await expect.poll(arrived, WITHIN).toContain('All done.');
  await expectVerified();
});

test('an excluded repository sends nothing, nor does its deleted worktree', async () => {
  const [place, other] = [machine.createProject('diary', DIARY), machine.createProject('shop')];
  const worktree = machine.createWorktree(place, 'page');
  writeJson(join(machine.home, '.capture/preferences.json'), { exclude: [DIARY] });
  await startCapture();
  await work(claudeCode, place, { how: 'start', prompt: 'Write the file, please: kept-back-here' });
  await work(claudeCode, worktree, { how: 'start', prompt: 'Write the file, please: kept-back-there' });
  rmSync(worktree.folder, { recursive: true });
  await expectNothingOf('kept-back', other);
});

test('a fork of a skipped session sends nothing', async () => {
  const place = machine.createProject('shop');
  await startCapture();
  const session = await workCaptured(claudeCode, place, { how: 'start', prompt: 'Write the file, please: before' });
  const skipped = await machine.end(machine.startCapture('skip', session));
  expect(skipped, skipped.output).toMatchObject({ code: 0 });
  await work(claudeCode, place, { how: 'resume', prompt: 'Write it again: kept-back-resumed', session });
  await work(claudeCode, place, { how: 'fork', prompt: 'And once more: kept-back-forked', session });
  await expectNothingOf('kept-back', machine.createProject('other'));
});

test('a resumed earlier session sends its new records, and its earlier ones only after consent', async () => {
  const place = machine.createProject('shop');
  await work(claudeCode, place, { how: 'start', prompt: 'Write the file, please: earlier-prompt' });
  const [transcript = ''] = globSync(claudeCode.stored, { cwd: machine.home });
  const session = basename(transcript, '.jsonl');
  const capture = await startCapture();
  await workCaptured(claudeCode, place, { how: 'resume', prompt: 'Write it again: later-prompt', session });
  expect(await arrived()).not.toContain('earlier-prompt');
  await stopCapture(capture);
  const consented = await machine.end(
    machine.startCapture('init', '--yes', '--history', 'all', '--no-daemon', '--no-hooks'),
  );
  expect(consented, consented.output).toMatchObject({ code: 0 });
  await startCapture();
  await expect.poll(arrived, WITHIN).toContain('earlier-prompt');
  await expectVerified();
});

test('two versions of one agent running at the same time are both captured', async () => {
  const [first, second] = [machine.createProject('first'), machine.createProject('second')];
  pi.prepare(first);
  await startCapture();
  const sessions = await Promise.all([
    workCaptured(pi, first, { how: 'start', prompt: 'Write the file, please: newer' }),
    workCaptured(olderPi, second, { how: 'start', prompt: 'Write the file, please: older' }),
  ]);
  expect(new Set(sessions).size).toBe(2);
  await expect.poll(async () => findMissing(machine.home, pi.stored, await allEvents()), WITHIN).toEqual([]);
  await expectVerified();
});

test("a task in an editor's folder created after capture started arrives whole, even if the model pauses", async () => {
  const place = machine.createProject('shop');
  cline.prepare(place);
  await startCapture();
  const tasks = join(machine.home, '.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks');
  expect(existsSync(join(machine.home, '.config/Code'))).toBe(false);
  const inEditor: Driver = {
    ...cline,
    stored: '.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/*/*.json',
    invoke(turn, at) {
      const { variables, ...invocation } = cline.invoke(turn, at);
      return { ...invocation, variables: { ...variables, CLINE_SESSION_DATA_DIR: tasks } };
    },
  };
  const prompt = `Write the file, please, and ${PAUSE}: in the editor`;
  await workCaptured(inEditor, place, { how: 'start', prompt });
  await expect.poll(arrived, WITHIN).toContain('All done.');
  await expect.poll(async () => findMissing(machine.home, inEditor.stored, await allEvents()), WITHIN).toEqual([]);
  expect(globSync(inEditor.stored, { cwd: machine.home })).not.toEqual([]);
  await expectVerified();
});
