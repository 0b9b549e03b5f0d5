import { expect, test } from 'vitest';
import { type Installation, runAndStop } from './rounds.ts';

test('an error of the rounds is reported first if the installation cannot be stopped either', async () => {
  const installation: Installation = {
    ...{ secret: '', machine: { environmentId: '', agentInstallationId: '' }, token: async () => '', writers: 1 },
    urls: () => [],
    countRows: async () => 0,
    expire: async () => undefined,
    faults: { 'replica killed': { break: () => undefined, mend: () => undefined } },
    async stop() {
      throw new Error('the disk is still in use');
    },
  };
  const options = { rounds: 1, random: Math.random, folder: 'no such folder' };
  const failed = await runAndStop(installation, options).catch((error: unknown) => error);
  expect(failed).toMatchObject({ errors: [{ code: 'ENOENT' }, { message: 'the disk is still in use' }] });
});
