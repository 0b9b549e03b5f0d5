import { expect } from 'vitest';
import { runProgram } from '../program.ts';
import { createContext, type Run, type RunOptions } from './program.ts';
import type { RealService } from './real-service.ts';

/** Runs a command, and confirms its sign-in as a person. The machine asks for the decision as soon as there is one. */
export async function runConfirmed(
  real: RealService,
  args: string[],
  { as = real.tenant.member, ...options }: Partial<RunOptions> & { as?: string } = {},
): Promise<Run> {
  const decided = Promise.withResolvers<void>();
  const { context, written } = createContext({ ...real.options, ...options });
  context.sleep = () => decided.promise;
  const ended = runProgram(context, args);
  await expect.poll(() => written.stderr, { timeout: 30_000 }).toContain('Waiting');
  const userCode = /code ([^ ]+) there/.exec(written.stderr)?.[1] ?? '';
  const body = { userCode, decision: 'approve' };
  await real.service.call('POST', '/v1/organizations/me/device-sign-in', { as, body });
  decided.resolve();
  return { exitCode: await ended, ...written };
}
