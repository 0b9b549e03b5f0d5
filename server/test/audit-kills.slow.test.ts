import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { patience, seeded, times } from '../../contract/test/runs.ts';
import { killLeftovers } from '../../test/process.ts';
import { startService } from '../../test/service.ts';
import { COMMANDS } from '../commands.ts';
import { hashSecret, newSecretValue } from '../credentials.ts';
import { openStore } from '../store/open.ts';
import { createOrganization } from '../store/organizations.ts';
import { resolveCaller } from '../store/people.ts';
import { addSecret } from '../store/secrets.ts';
import { testConfig } from './harness.ts';
import { createRandom } from './seed.ts';

const PEPPER = 'kept over kills';
const AT_ONCE = 8;

let dataDir: string;
let secret: string;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'capture-audit-kills-'));
  secret = newSecretValue('live');
  const { db, close } = await openStore({ dataDir, onError: () => undefined });
  const founder = await resolveCaller(
    db,
    { issuer: 'i', subject: 's', email: 'a@example.com', emailVerified: true },
    1,
  );
  const { organization_id: organizationId } = await createOrganization(db, 'Killed', founder, 1);
  const shown = { prefix: secret.slice(0, 12), lastFour: secret.slice(-4) };
  const issued = { organizationId, name: 'load', plane: 'live', hash: hashSecret(PEPPER, secret), ...shown } as const;
  await db.transaction().execute((transaction) => addSecret(transaction, { ...issued, createdBy: founder.userId }, 1));
  await close();
});
afterEach(() => {
  killLeftovers();
  rmSync(dataDir, { recursive: true });
});

/**
 * Registers new machines, each an entry of the audit log, until the service no longer answers.
 * @returns the number that it confirmed
 */
async function register(url: string, run: string): Promise<number> {
  let confirmed = 0;
  for (let n = 0; ; n++) {
    const body = JSON.stringify({ hostname: `${run}-${n}`, platform: 'linux', serviceCliVersion: '1.0.0' });
    const headers = { 'x-service-secret': secret, 'content-type': 'application/json' };
    const reply = await fetch(`${url}/v1/environments`, { method: 'POST', headers, body }).catch(() => undefined);
    if (!reply) return confirmed;
    expect(reply.status).toBeLessThan(300);
    confirmed++;
  }
}

const COUNT = times(4);

test(`a service that is killed at work keeps every entry, and the audit has no finding ${seeded}`, {
  timeout: patience(120_000),
}, async () => {
  const random = createRandom();
  let confirmed = 0;
  const heads = join(dataDir, 'audit-heads.jsonl');
  for (let kill = 0; kill < COUNT; kill++) {
    const limits = { RATE_LIMIT_SECRET: '0', RATE_LIMIT_ADDRESS: '0' };
    const service = await startService(dataDir, { SECRET_PEPPER: PEPPER, ...limits });
    const load = Array.from({ length: AT_ONCE }, (_, sender) => register(service.url, `${kill}-${sender}`));
    // The service signs the log at its start; before the first signature there is nothing to compare with.
    await expect.poll(() => existsSync(heads)).toBe(true);
    await pause(100 + random() * 500);
    await service.end('SIGKILL');
    confirmed += (await Promise.all(load)).reduce((sum, count) => sum + count, 0);
    const lines: string[] = [];
    const config = testConfig({ DATA_DIR: dataDir, SECRET_PEPPER: PEPPER });
    await COMMANDS['audit verify']?.(config, (line) => void lines.push(line), ['--heads', heads]);
    const entries = Number(/^Read ([\d,]+) entr/.exec(lines.join('\n'))?.[1]?.replaceAll(',', ''));
    expect(lines.at(-1)).toBe('Nothing was changed.');
    expect(entries).toBeGreaterThanOrEqual(confirmed);
  }
  expect(confirmed).toBeGreaterThan(COUNT);
});
