import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { type Client, createClient, type ServiceError } from '../../contract/client.ts';
import type { StartedDevice } from '../../contract/device.ts';
import { picture, shareProduct } from './harness/product.ts';
import type { Tab } from './harness/tab.ts';
import { violationsOf } from './steps/accessibility.ts';
import { joinByMail } from './steps/mail.ts';
import { openAsAda, prepareOrganization } from './steps/organization.ts';
import { BEN, signIn } from './steps/person.ts';

const product = shareProduct();
let tab: Tab;
let page: Page;
let owner: Client;
let anybody: Client;

beforeAll(async () => {
  owner = (await prepareOrganization(product.service)).owner;
  anybody = createClient({ baseUrl: product.service.url });
  tab = await openAsAda(product);
  page = tab.page;
});

/** Starts the sign-in of a machine and opens its page. */
async function open(hostname: string, on = page): Promise<StartedDevice> {
  const body = { hostname, platform: 'darwin', serviceCliVersion: '1.2.3' } as const;
  const started = (await anybody.startDeviceSignIn({ body })).body;
  await on.goto(`${product.service.url}/device?code=${started.userCode}`);
  return started;
}

/** Types the end of the code, as a person reads it in the terminal. */
const typeEnding = ({ userCode }: Pick<StartedDevice, 'userCode'>) =>
  page.getByLabel('The last four characters of the code').fill(userCode.slice(-4).toLowerCase());

const collect = async ({ deviceCode }: StartedDevice) =>
  anybody.collectDeviceSecret({ body: { deviceCode } }).then(
    ({ body }) => body.secret.secretEnvironment,
    (error: unknown) => (error as ServiceError).code,
  );

test('a person sees the machine and chooses the plane of its secret', async () => {
  const started = await open('workbench');
  await page.getByText(started.userCode.slice(0, 5)).waitFor();
  expect(await page.getByRole('main').textContent()).toMatch(
    /workbench.*macOS, capture 1\.2\.3.*from the address 127/s,
  );
  await page.getByRole('radio', { name: 'test' }).check();
  const confirm = page.getByRole('button', { name: 'Sign in this machine' });
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel('The last four characters of the code').fill('0000');
  await page.getByRole('alert').getByText('The link is for another code.').waitFor();
  expect(await confirm.isDisabled()).toBe(true);
  await typeEnding(started);
  await confirm.click();
  await page.getByText('Confirmed.').waitFor();
  expect(await collect(started)).toBe('test');
  await page.getByText('workbench is signed in.').waitFor();
});

test('a refused machine gets no secret', async () => {
  const started = await open('workbench');
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByText('Refused. workbench got nothing.').waitFor();
  expect(await collect(started)).toBe('access_denied');
});

test('the page shows a decision that somebody else made in the meantime', async () => {
  tab.allow(/status of 409/);
  const { userCode } = await open('workbench');
  await typeEnding({ userCode });
  await owner.decideDeviceSignIn({ body: { userCode, decision: 'deny' } });
  await page.getByRole('button', { name: 'Sign in this machine' }).click();
  await page.getByRole('alert').getByText('This sign-in was already decided.').waitFor();
});

test('a wrong code can be typed again, in upper or lower case', async () => {
  tab.allow(/status of 404/);
  const started = (
    await anybody.startDeviceSignIn({ body: { hostname: 'h', platform: 'linux', serviceCliVersion: '1' } })
  ).body;
  await page.goto(`${product.service.url}/device?code=AAAA-AAAA`);
  await page.getByRole('alert').getByText('No machine is waiting with this code.').waitFor();
  await page.getByLabel('Code in the terminal').fill(started.userCode.toLowerCase().replace('-', ''));
  await page.keyboard.press('Enter');
  await page.getByText(started.userCode.replace('-', '')).waitFor();
  expect(await page.getByRole('button', { name: 'Sign in this machine' }).isEnabled()).toBe(true);
});

test('a name that looks like markup is shown as text', async () => {
  await open('workbench<img src=x onerror=alert(1)>');
  await page.getByText('workbench<img src=x onerror=alert(1)>').waitFor();
});

test('a member confirms their own machine, unless the policy reserves this for admins', async () => {
  await owner.inviteMember({ body: { email: BEN.email, role: 'member' } });
  await joinByMail(product, BEN);
  const other = await product.open();
  await other.page.goto(product.service.url);
  await signIn(other.page, BEN);
  await other.page.getByText('You are invited.').waitFor();
  expect(await violationsOf(other.page)).toEqual([]);
  await picture(other, 'one-invitation');
  await other.page.getByRole('button', { name: 'Join Harbour Works' }).click();
  await other.page.getByRole('heading', { name: 'Connect a machine' }).waitFor();
  await other.page.getByText('Run this on the machine').waitFor();
  const ending = async ({ userCode }: StartedDevice) =>
    other.page.getByLabel('The last four characters of the code').fill(userCode.slice(-4));
  const own = await open('workbench', other.page);
  await ending(own);
  await other.page.getByRole('button', { name: 'Sign in this machine' }).click();
  await other.page.getByText('Confirmed.').waitFor();
  expect(await collect(own)).toBe('live');
  await owner.replacePolicy({ body: { signIn: 'admins' } });
  other.allow(/status of 403/);
  await open('workbench', other.page);
  await other.page.getByText('The policy of Harbour Works lets only owners and admins confirm a machine.').waitFor();
  expect(await other.page.getByRole('button').count()).toBe(0);
  await product.close(other);
});
