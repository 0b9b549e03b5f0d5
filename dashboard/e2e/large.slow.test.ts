import { beforeAll, describe, expect, test } from 'vitest';
import { picture, setUpProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createRecorder, event, waitUntilDerived } from './steps/recording.ts';
import { currentRow, expectAt, openSession, rowOfEvent, timelineOf } from './steps/timeline.ts';

const EVENTS = 50_000;
const MAX_NODES = 5_000;
const product = setUpProduct();
let tab: Tab;
let sessionId: string;

const textOf = (sequence: number) => `This is event ${sequence}.`;

/** A conversation: one prompt in a hundred events, one answer in ten, and tool calls, some of which fail. */
function makeEvent(sequence: number) {
  const callId = `call-${Math.floor(sequence / 2)}`;
  if (sequence % 100 === 1) return event('user.message', { text: textOf(sequence) });
  if (sequence % 10 === 1) return event('assistant.reasoning', { text: textOf(sequence) });
  if (sequence % 10 === 0) return event('assistant.message', { text: `${textOf(sequence)}\n\n${'words '.repeat(60)}` });
  if (sequence % 2 === 0) return event('tool.call', { callId, name: 'Bash', input: { command: textOf(sequence) } });
  return event('tool.result', { callId, output: textOf(sequence), isError: sequence % 100 === 3 });
}

beforeAll(async () => {
  const { machine, owner } = await prepareOrganization(product.service);
  const recorder = await createRecorder(machine);
  sessionId = await recorder.openSession('A long one');
  const started = performance.now();
  await recorder.append(
    sessionId,
    Array.from({ length: EVENTS }, (_, index) => makeEvent(index + 1)),
  );
  console.log(`${EVENTS} events appended in ${since(started)}`);
  await waitUntilDerived(owner, sessionId, EVENTS);
  tab = await openAsAda(product);
  await openSession(tab.page, product.service, sessionId);
  await waitUntilLoaded();
});

const since = (start: number) => `${Math.round(performance.now() - start)} ms`;
const nodes = () => tab.page.evaluate(() => document.querySelectorAll('*').length);

const waitUntilLoaded = () =>
  tab.page.locator('[data-complete="true"]').waitFor({ state: 'attached', timeout: 45_000 });

describe(`a session of ${EVENTS} events`, () => {
  test('loads with one request for the index and few requests for whole texts', async () => {
    const asked: string[] = [];
    tab.page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').at(-1) ?? ''));
    const started = performance.now();
    await tab.page.goto(`${product.service.url}/sessions/${sessionId}`);
    await timelineOf(tab.page).getByText(textOf(1), { exact: true }).waitFor();
    console.log(`first rows after ${since(started)}`);
    await picture(tab, 'large-first-rows');
    await waitUntilLoaded();
    console.log(`all loaded after ${since(started)}`);
    expect(asked.filter((name) => name === 'index')).toHaveLength(1);
    expect(asked.filter((name) => name === 'window').length).toBeLessThan(10);
    tab.page.removeAllListeners('request');
  });

  test('can be scrolled to its end without missing rows', async () => {
    await openSession(tab.page, product.service, sessionId);
    await waitUntilLoaded();
    await tab.page.keyboard.press('Shift+G');
    await rowOfEvent(tab.page, EVENTS).and(currentRow(tab.page)).waitFor();
  });

  test('keeps the document small at every position', async () => {
    const counts: number[] = [];
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      await timelineOf(tab.page).evaluate((element, part) => element.scrollTo(0, element.scrollHeight * part), share);
      await expect.poll(() => timelineOf(tab.page).getByRole('listitem').count()).toBeGreaterThan(5);
      counts.push(await nodes());
    }
    console.log(`nodes in the document: ${counts.join(', ')}`);
    expect(Math.max(...counts)).toBeLessThan(MAX_NODES);
  });

  test('opens at a linked event and stays there while the rest loads', async () => {
    const started = performance.now();
    await openSession(tab.page, product.service, sessionId, 40_000);
    await expectAt(tab.page, 40_000);
    console.log(`event 40,000 in sight after ${since(started)}`);
    await waitUntilLoaded();
    await expectAt(tab.page, 40_000);
    await picture(tab, 'large-event-40000');
  });

  test('opens the parents of a linked event', async () => {
    await openSession(tab.page, product.service, sessionId, 39_996);
    await expectAt(tab.page, 39_996);
    expect(await currentRow(tab.page).textContent()).toContain(textOf(39_996));
  });
});
