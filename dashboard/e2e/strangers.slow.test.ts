import { beforeAll, expect, test } from 'vitest';
import { shareProduct } from './harness/product.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { linkTo } from './steps/outbox.ts';
import { BEN, signUp } from './steps/person.ts';
import { createRecorder, event } from './steps/recording.ts';
import { openSession, timelineOf } from './steps/timeline.ts';
import { createOrganization } from './steps/welcome.ts';

const product = shareProduct();
const WORDS = 'Only for the people of Harbour Works.';
let sessionId: string;

beforeAll(async () => {
  const { machine } = await prepareOrganization(product.service);
  const recorder = await createRecorder(machine);
  sessionId = await recorder.openSession('Ours');
  await recorder.append(sessionId, [event('user.message', { text: WORDS })]);
});

test('a person of another organization sees that the session does not exist', async () => {
  const stranger = await product.open();
  await stranger.page.goto(product.service.url);
  await signUp(stranger.page, BEN);
  await stranger.page.getByText('First confirm your e-mail address').waitFor();
  // Confirming ends the previous sign-in, which the page may not know yet.
  stranger.allow(/status of 401|status of 400 .*\/oidc\/token/);
  await stranger.page.goto(linkTo(product.service, BEN.email));
  await stranger.page.getByLabel('Password').fill(BEN.password);
  await stranger.page.getByRole('button').first().click();
  await stranger.page.waitForURL('**/welcome');
  await createOrganization(stranger.page, 'Mountain Works');

  stranger.allow(/status of 404/);
  await stranger.page.goto(`${product.service.url}/sessions/${sessionId}?e=1`);
  await stranger.page.getByRole('alert').getByText('Not found').waitFor();
  expect(await stranger.page.content()).not.toContain(WORDS);
  await product.close(stranger);

  const member = await openAsAda(product);
  await openSession(member.page, product.service, sessionId, 1);
  await timelineOf(member.page).getByText(WORDS).waitFor();
});
