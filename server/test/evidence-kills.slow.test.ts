import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ChainHead, chainStart } from '../../contract/chain.ts';
import { openEnvelope } from '../../contract/dsse.ts';
import { COUNTERSIGNATURE, type Countersigned, type Evidence } from '../../contract/evidence.ts';
import type { SaltKeys } from '../../contract/salts.ts';
import { headAfter } from '../../contract/test/heads.ts';
import { patience, seeded, times } from '../../contract/test/runs.ts';
import { killLeftovers } from '../../test/process.ts';
import { type Service, startService } from '../../test/service.ts';
import { hashSecret, newSecretValue } from '../credentials.ts';
import { openStore } from '../store/open.ts';
import { createOrganization } from '../store/organizations.ts';
import { resolveCaller } from '../store/people.ts';
import { addSecret } from '../store/secrets.ts';
import { MACHINE_KEY } from './requests.ts';
import { createRandom } from './seed.ts';

const PEPPER = 'kept over kills';
const AT_ONCE = 8;
const COUNT = times(3);

let dataDir: string;
let secret: string;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'capture-evidence-kills-'));
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

async function post<Answer>({ url }: Service, path: string, body: object, key = ''): Promise<Answer> {
  const headers = {
    'x-service-secret': secret,
    'content-type': 'application/json',
    ...(key && { 'idempotency-key': key }),
  };
  const reply = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(reply.status).toBeLessThan(300);
  return (await reply.json()) as Answer;
}

/** A sender with its own session. It chains acknowledged appends, and repeats the others. */
class Sender {
  readonly sessionId: string;
  readonly #sentEvents: { eventType: string; payload: string }[] = [];
  sent = 0;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  headWith(saltKeys: SaltKeys): ChainHead {
    return headAfter(chainStart('codex', this.sessionId), this.#sentEvents, saltKeys);
  }

  async appendOnce(service: Service): Promise<void> {
    const events = Array.from({ length: 1 + (this.sent % 7) }, (_, n) => ({
      eventType: 'notice',
      payload: { text: `${this.sent}/${n}` },
    }));
    await post(service, `/v1/sessions/${this.sessionId}/events`, { events }, `key-${this.sent}`);
    this.#sentEvents.push(...events.map((event) => ({ ...event, payload: JSON.stringify(event.payload) })));
    this.sent++;
  }

  async appendUntilLost(service: Service): Promise<void> {
    for (let isThere = true; isThere; ) {
      const sent = this.appendOnce(service);
      isThere = await sent.then(
        () => true,
        (error: Error) => {
          if (error instanceof TypeError || error instanceof SyntaxError) return false;
          throw error;
        },
      );
    }
  }
}

test(`a service that is killed at work signs the same heads that its senders computed ${seeded}`, {
  timeout: patience(120_000),
}, async () => {
  const random = createRandom();
  const start = () => startService(dataDir, { SECRET_PEPPER: PEPPER, RATE_LIMIT_SECRET: '0', RATE_LIMIT_ADDRESS: '0' });
  let service = await start();
  const machine = { hostname: 'killed', platform: 'linux', serviceCliVersion: '1.0.0' };
  const { environmentId } = await post<{ environmentId: string }>(service, '/v1/environments', machine);
  const agents = `/v1/environments/${environmentId}/agents`;
  const { installationId } = await post<{ installationId: string }>(service, agents, { agentId: 'codex' });
  const opening = { environmentId, agentInstallationId: installationId };
  const senders: Sender[] = [];
  for (let n = 0; n < AT_ONCE; n++) {
    senders.push(new Sender((await post<{ sessionId: string }>(service, '/v1/sessions', opening)).sessionId));
  }
  for (let kill = 0; kill < COUNT; kill++) {
    const load = senders.map((sender) => sender.appendUntilLost(service));
    await pause(700 + random() * 900);
    await service.end('SIGKILL');
    await Promise.all(load);
    service = await start();
    for (const sender of senders) {
      // The append during the kill may be stored.
      await sender.appendOnce(service);
      const path = `/v1/sessions/${sender.sessionId}/evidence`;
      const { countersignature, saltKeys } = await post<Evidence>(service, path, { machineKey: MACHINE_KEY });
      const { events, head } = openEnvelope(countersignature, COUNTERSIGNATURE).statement as Countersigned;
      expect({ sequence: events, hash: head }).toEqual(sender.headWith(saltKeys));
    }
  }
  expect(Math.min(...senders.map(({ sent }) => sent))).toBeGreaterThan(COUNT);
  await service.end('SIGTERM');
});
