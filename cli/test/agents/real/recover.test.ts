import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CONTINUED_AGENTS } from '../../../../contract/catalog.ts';
import type { Agent } from '../../../agents/agent.ts';
import { AGENTS as AGENT_TABLE } from '../../../agents/all.ts';
import type { Driver, Place } from './driver.ts';
import { DRIVERS } from './drivers/all.ts';
import { createMachine, type Machine } from './machine.ts';
import { startModel } from './model/server.ts';
import { type StoredEvent, startService } from './service.ts';

const AGENTS = process.env.CAPTURE_TEST_AGENTS ?? join(import.meta.dirname, '../../../../artefacts/agents');

const WITHIN = { timeout: 20_000, interval: 200 };

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

/** Runs a turn and lets capture read it. Returns the agent's id of the session. */
async function work(driver: Driver, place: Place, prompt: string, session = ''): Promise<string> {
  const how = session === '' ? 'start' : 'resume';
  const ended = await machine.end(machine.startAgent(driver, { how, prompt, session }, place));
  expect(ended, ended.output).toMatchObject({ code: 0 });
  const captured = await machine.end(machine.startCapture('import'));
  expect(captured, captured.output).toMatchObject({ code: 0 });
  const said = (await all()).find(
    ({ eventType, payload }) => eventType === 'user.message' && JSON.stringify(payload).includes(prompt),
  );
  return said?.payload.source.session ?? '';
}

/** Runs a command that reads sessions, and confirms it. */
async function readConfirmed(...args: string[]) {
  const command = machine.startCapture(...args);
  await expect.poll(command.output, WITHIN).toContain('Waiting');
  await service.confirm(/code ([^ ]+) there/.exec(command.output())?.[1] ?? '');
  return machine.end(command);
}

const filesOf = ({ stored }: Driver) => globSync(stored, { cwd: machine.home }).map((path) => join(machine.home, path));

const valuesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

/** The agents whose transcripts capture writes again. */
const WRITTEN = DRIVERS.filter(({ agent: id, canResume }) => canResume && AGENT_TABLE.some(isRestored(id)));

function isRestored(id: string) {
  return (agent: Agent) => agent.id === id && agent.restored !== undefined;
}

describe.each(WRITTEN)('$agent', (driver) => {
  test('continues a session that was deleted and recovered, and knows its history', async () => {
    const place = machine.createProject('shop');
    driver.prepare(place);
    const session = await work(driver, place, 'Write the file, please: alpha');
    const before = new Map(filesOf(driver).map((path) => [path, valuesOf(path)]));
    expect(before.size).toBeGreaterThan(0);
    const events = await all();
    for (const path of before.keys()) rmSync(path);
    const recovered = await readConfirmed('recover', session);
    expect(recovered, recovered.output).toMatchObject({ code: 0 });
    for (const [path, values] of before) expect(valuesOf(path), path).toEqual(values);
    await machine.end(machine.startCapture('import'));
    expect((await all()).length).toBe(events.length);
    expect(await work(driver, place, 'Write it again: gamma', session)).toBe(session);
    expect(model.historyOf('gamma').join('\n')).toContain('alpha');
    const texts = (await all()).map(({ payload }) => JSON.stringify(payload));
    expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
  });
});

const CONTINUED = DRIVERS.filter(({ agent }) => CONTINUED_AGENTS.has(agent));

describe.each(CONTINUED)('$agent', (driver) => {
  test('continues a copy of a session in another folder, and only what is added is captured', async () => {
    const place = machine.createProject('shop');
    driver.prepare(place);
    const session = await work(driver, place, 'Write the file, please: alpha');
    const [id = ''] = [...(await service.events()).keys()];
    const there = machine.createProject('elsewhere');
    const copied = await readConfirmed('resume', id, '--folder', there.folder, '--json');
    expect(copied, copied.output).toMatchObject({ code: 0 });
    const { session: copy } = JSON.parse(copied.output.slice(copied.output.indexOf('{')));
    expect(copy).not.toBe(session);
    expect(await work(driver, there, 'Write it again: gamma', copy)).toBe(copy);
    expect(model.historyOf('gamma').join('\n')).toContain('alpha');
    const prompts = (await all()).filter(({ eventType }) => eventType === 'user.message');
    const countOf = (text: string) => prompts.filter(({ payload }) => JSON.stringify(payload).includes(text)).length;
    expect({ alpha: countOf('alpha'), gamma: countOf('gamma') }).toEqual({ alpha: 1, gamma: 1 });
  });
});
