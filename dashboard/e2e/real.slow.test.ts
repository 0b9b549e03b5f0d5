import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REPOSITORY } from './harness/folders.ts';
import { picture, setUpProduct } from './harness/product.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { createMachineOf } from './steps/samples.ts';
import { currentRow, openSession, readToEnd } from './steps/timeline.ts';

/** A transcript of real work, if its collection is beside the repository. */
const TRANSCRIPT = join(REPOSITORY, '../shared/transcripts/claude-code/FSM1__cipher-box/fc/71f7dc4708/1/full.jsonl');

const product = setUpProduct();

test.skipIf(!existsSync(TRANSCRIPT))('a session of real work is captured and read from end to end', async () => {
  const organization = await prepareOrganization(product.service);
  const machine = createMachineOf(product, organization);
  const started = performance.now();
  console.log(await machine.capture(['import', '--agent', 'claude-code', TRANSCRIPT]));
  console.log(`captured in ${Math.round(performance.now() - started)} ms`);
  const { sessions } = (await organization.owner.listSessions({})).body;
  const [session] = sessions;
  expect(session?.eventCount).toBeGreaterThan(500);

  const tab = await openAsAda(product);
  await openSession(tab.page, product.service, session?.sessionId ?? '', 1);
  await picture(tab, 'real-first');
  expect((await readToEnd(tab.page)).length).toBeGreaterThan(10_000);
  await tab.page.keyboard.press('n');
  await expect.poll(() => currentRow(tab.page).textContent()).toMatch(/failed|exit \d/);
  await tab.page.keyboard.press('Enter');
  await picture(tab, 'real-failure');
});
