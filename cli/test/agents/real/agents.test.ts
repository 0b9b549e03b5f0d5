import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Driver, Place, Turn } from './driver.ts';
import { DRIVERS } from './drivers/all.ts';
import { createMachine, type Machine } from './machine.ts';
import { compareWithMatrix } from './matrix.ts';
import { findMissing } from './missing.ts';
import { SLOW, startModel } from './model/server.ts';
import { type StoredEvent, startService } from './service.ts';

/** The folder where `script/test --agents` installs the agents' packages. */
const AGENTS = process.env.CAPTURE_TEST_AGENTS ?? join(import.meta.dirname, '../../../../artefacts/agents');

const WITHIN = { timeout: 60_000, interval: 200 };

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

const all = async (): Promise<StoredEvent[]> => [...(await service.events()).values()].flat();

const textOf = ({ payload }: StoredEvent) => JSON.stringify(payload);

/** Keeps the latest revision of each record. */
function current(events: StoredEvent[]): StoredEvent[] {
  const last = new Map<string, number>();
  const nameOf = ({ payload: { source } }: StoredEvent) => `${source.session} ${source.subagent} ${source.record}`;
  for (const event of events) last.set(nameOf(event), event.payload.source.revision ?? 0);
  return events.filter((event) => (event.payload.source.revision ?? 0) === last.get(nameOf(event)));
}

const prompts = (events: StoredEvent[], text: string) =>
  current(events).filter((event) => event.eventType === 'user.message' && textOf(event).includes(text));

const findSession = async (text: string): Promise<[string, StoredEvent[]] | undefined> =>
  [...(await service.events())].find(([, events]) => prompts(events, text).length > 0);

/** Runs a turn and waits until the service has its prompt and its closing message. */
async function work(driver: Driver, place: Place, turn: Omit<Turn, 'session'> & { session?: string }): Promise<string> {
  const ended = await machine.end(machine.startAgent(driver, { session: '', ...turn }, place));
  expect(ended, ended.output).toMatchObject({ code: 0 });
  await expect.poll(() => findSession(turn.prompt), WITHIN).toBeDefined();
  await expect.poll(async () => closings((await findSession(turn.prompt))?.[1] ?? []), WITHIN).toBeGreaterThan(0);
  return agentSession(turn.prompt);
}

const closings = (events: StoredEvent[]) =>
  events.filter(({ eventType, payload }) => eventType === 'assistant.message' && payload.text?.includes('All done.'))
    .length;

/** The agent's own id of the session with this prompt. */
async function agentSession(text: string): Promise<string> {
  const [, events = []] = (await findSession(text)) ?? [];
  return prompts(events, text)[0]?.payload.source.session ?? '';
}

/** Checks that the service has every record of the agent's own store, independently and with `capture verify`. */
async function expectAllThere(driver: Driver): Promise<void> {
  await expect.poll(async () => findMissing(machine.home, driver.stored, await all()), WITHIN).toEqual([]);
  const verified = await machine.end(machine.startCapture('verify'));
  expect(verified, verified.output).toMatchObject({ code: 0 });
}

/** Payloads contain the positions of their records, so two equal payloads are duplicates. */
function expectEachOnce(events: StoredEvent[]): void {
  const texts = events.map(textOf);
  expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
}

describe.each(DRIVERS)('$agent', (driver) => {
  /** Creates projects and starts capture. */
  async function prepare(...names: string[]): Promise<Place[]> {
    const places = names.map((name) => machine.createProject(name));
    if (places[0]) driver.prepare(places[0]);
    const capture = machine.startCapture('run');
    // Sessions from before the start are history, which needs consent.
    await expect.poll(capture.output, WITHIN).toContain('Stop with Ctrl-C');
    return places;
  }

  test('is captured live with concurrent, resumed and forked sessions: every event once, and verified', async () => {
    const [first, second] = (await prepare('first', 'second')) as [Place, Place];
    const [session, other] = await Promise.all([
      work(driver, first, { how: 'start', prompt: 'Write the file, please: alpha' }),
      work(driver, second, { how: 'start', prompt: 'Write the file, please: beta' }),
    ]);
    expect(session).not.toBe(other);
    const texts = ['alpha', 'beta'];
    if (driver.canResume) {
      expect(await work(driver, first, { how: 'resume', prompt: 'Write it again: gamma', session })).toBe(session);
      texts.push('gamma');
    }
    if (driver.forks !== 'never') {
      expect(await work(driver, first, { how: 'fork', prompt: 'And once more: delta', session })).not.toBe(session);
      texts.push('delta');
    }
    // The fork begins with copies of the first and the resumed turn.
    const copies = driver.forks === 'new ids' ? 2 : 0;
    const isAnswer = ({ eventType, payload }: StoredEvent) =>
      eventType === 'tool.result' && JSON.stringify(payload.output)?.includes('written-by-a-tool');
    // A fork starts with copied closing messages, so they do not prove that its own turn ended.
    const answers = async () => current(await all()).filter(isAnswer).length;
    await expect.poll(answers, WITHIN).toBe(texts.length + copies);
    await expectAllThere(driver);
    const events = await all();
    const now = current(events);
    const copied = copies > 0 ? ['alpha', 'gamma'] : [];
    for (const text of texts) expect(prompts(events, `: ${text}`), text).toHaveLength(copied.includes(text) ? 2 : 1);
    expect(now.filter(({ eventType }) => eventType === 'tool.call')).toHaveLength(texts.length + copies);
    expect(now.some(({ eventType }) => eventType === 'usage')).toBe(true);
    expectEachOnce(events);
    expect(compareWithMatrix(driver, { agents: AGENTS, home: machine.home, events })).toEqual([]);
  });

  test('is captured in a worktree and in folders with non-Latin names', async () => {
    const [place] = (await prepare('проект é 日本')) as [Place];
    await work(driver, place, { how: 'start', prompt: 'Write the file, please: eta' });
    const worktree = machine.createWorktree(place, 'дерево 木');
    await work(driver, worktree, { how: 'start', prompt: 'Write the file, please: theta' });
    await expectAllThere(driver);
  });

  test.each(['SIGINT', 'SIGKILL'] as const)(
    'is captured until %s ends it, and again in the next session',
    async (signal) => {
      const [place] = (await prepare('only')) as [Place];
      const before = model.slowRequests();
      const agent = machine.startAgent(driver, { how: 'start', prompt: `Please ${SLOW}: epsilon`, session: '' }, place);
      if (driver.writesPrompt === 'at once') await expect.poll(() => findSession('epsilon'), WITHIN).toBeDefined();
      else await expect.poll(model.slowRequests, WITHIN).toBeGreaterThan(before);
      agent.signal(signal);
      const timer = setTimeout(() => agent.signal('SIGKILL'), 5_000);
      await machine.end(agent);
      clearTimeout(timer);
      await work(driver, place, { how: 'start', prompt: 'Write the file, please: zeta' });
      const isWritten =
        driver.writesPrompt === 'at once' || (driver.writesPrompt === 'when interrupted' && signal === 'SIGINT');
      expect(prompts(await all(), ': epsilon')).toHaveLength(isWritten ? 1 : 0);
      await expectAllThere(driver);
    },
  );
});
