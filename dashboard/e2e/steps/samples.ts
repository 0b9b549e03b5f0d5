import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Product } from '../harness/product.ts';
import { beginSession, createMachine, type Machine } from './machine.ts';
import { type Organization, openAsAda, prepareOrganization } from './organization.ts';

/** A session that adds a rate limit to a web service: prompts, edits, a failing command, secrets, sub-agents. */
export const RATE_LIMIT = {
  project: '-home-dev-code-shortlink',
  /** The words of the first prompt. */
  words: 'that nothing enforces',
  /** The number of records at first, in tests in which the session grows. */
  begun: 158,
  /** The words of a message among the records that follow. */
  nextWords: 'On this machine the limit is',
} as const;

export function createMachineOf(product: Product, { secret }: Pick<Organization, 'secret'>): Machine {
  return createMachine(join(product.folder, 'home'), { CAPTURE_URL: product.service.url, CAPTURE_SECRET: secret });
}

/** Ada's tab, and the sample session that her machine captured. */
export async function openSample(product: Product): Promise<{ page: Page; sessionId: string }> {
  const sessionId = await captureSample(product, await prepareOrganization(product.service));
  return { page: (await openAsAda(product)).page, sessionId };
}

/** @returns the id of the captured sample session */
export async function captureSample(product: Product, organization: Organization): Promise<string> {
  const machine = createMachineOf(product, organization);
  beginSession(machine, RATE_LIMIT.project, RATE_LIMIT.begun).finish();
  await machine.capture(['import', '--quiet']);
  const { sessions } = (await organization.owner.listSessions({})).body;
  const [session] = sessions;
  if (!session) throw new Error('the sample session was not captured');
  return session.sessionId;
}
