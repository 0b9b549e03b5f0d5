import { beforeAll, expect, test } from 'vitest';
import type { NewEvent } from '../../contract/event.ts';
import { picture, shareProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createRecorder, event, waitUntilDerived } from './steps/recording.ts';
import { openSession, timelineOf } from './steps/timeline.ts';

const RECORDS = 50_000;
const SUBAGENTS = 500;
const CALLS = RECORDS / SUBAGENTS / 2;
const MAX_NODES = 2_000;

const product = shareProduct();
let tab: Tab;
let sessionId: string;

/** A message of a sub-agent as the file of the session repeats it. */
const progress = (agent: number, role: string, block: object): NewEvent =>
  event('notice', {
    kind: 'agent_progress',
    rest: {
      parentToolUseID: `start-${agent}`,
      data: { agentId: `agent-${agent}`, message: { message: { role, content: [block], model: 'm' } } },
    },
  });

beforeAll(async () => {
  const { machine, owner } = await prepareOrganization(product.service);
  const recorder = await createRecorder(machine);
  sessionId = await recorder.openSession('Many at work');
  const agents = Array.from({ length: SUBAGENTS }, (_, agent) => agent);
  // Interleaved, so that each chunk has records of many sub-agents.
  const steps = Array.from({ length: CALLS }, (_, step) =>
    agents.flatMap((agent) => {
      const id = `call-${agent}-${step}`;
      return [
        progress(agent, 'assistant', { type: 'tool_use', id, name: 'Bash', input: { command: `echo ${step}` } }),
        progress(agent, 'user', { type: 'tool_result', tool_use_id: id, content: `${step}` }),
      ];
    }),
  );
  const events = [
    event('user.message', { text: 'All at once.' }),
    ...agents.map((agent) =>
      event('tool.call', { callId: `start-${agent}`, name: 'Task', input: { description: `Task ${agent}` } }),
    ),
    ...steps.flat(),
  ];
  await recorder.append(sessionId, events);
  await waitUntilDerived(owner, sessionId, events.length);
  tab = await openAsAda(product);
});

const waitUntilLoaded = () =>
  tab.page.locator('[data-complete="true"]').waitFor({ state: 'attached', timeout: 60_000 });
const nodes = () => tab.page.evaluate(() => document.querySelectorAll('*').length);

test(`${RECORDS} records of ${SUBAGENTS} sub-agents load with one request and are drawn in part`, async () => {
  const { page } = tab;
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').at(-1) ?? ''));
  await openSession(page, product.service, sessionId);
  await waitUntilLoaded();
  await picture(tab, 'many-subagents');
  expect(asked.filter((name) => name === 'index')).toHaveLength(1);
  expect(asked.filter((name) => name === 'window').length).toBeLessThan(10);
  const counts: number[] = [];
  for (const share of [0, 0.5, 1]) {
    await timelineOf(page).evaluate((element, part) => element.scrollTo(0, element.scrollHeight * part), share);
    await expect.poll(() => timelineOf(page).getByRole('listitem').count()).toBeGreaterThan(5);
    counts.push(await nodes());
  }
  expect(Math.max(...counts)).toBeLessThan(MAX_NODES);
  page.removeAllListeners('request');
});

test('each sub-agent has its calls and can be shown alone', async () => {
  const { page } = tab;
  await page.goto(`${product.service.url}/sessions/${sessionId}?view=agents`);
  await page.getByRole('heading', { name: `${SUBAGENTS} sub-agents` }).waitFor({ timeout: 60_000 });
  expect(await nodes()).toBeLessThan(MAX_NODES);
  const first = page.getByRole('region', { name: 'Sub-agents' }).getByRole('listitem').first();
  await expect.poll(() => first.textContent()).toContain(`${CALLS} calls`);
  await first.getByRole('button').first().click();
  await expect.poll(() => timelineOf(page).textContent()).toMatch(/echo 0/);
  expect(await nodes()).toBeLessThan(MAX_NODES);
});
