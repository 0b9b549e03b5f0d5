import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { splitPayload } from '../../contract/parts.ts';
import { COMMANDS } from '../commands.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { testConfig } from './harness.ts';
import { startWorld, type World } from './world.ts';

/** Made up, in the form of a vendor. */
const TOKEN = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
const SOURCE = { agent: 'codex', session: 's', file: '/t.jsonl', position: 1 };

describe.each(ENGINES)('a sweep of stored sessions on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  async function sweep(...options: string[]) {
    const { dataDir, databaseUrl } = world.service.store;
    const lines: string[] = [];
    const config = testConfig({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
    const outcome = await Promise.resolve(COMMANDS.sweep?.(config, (line) => void lines.push(line), options)).then(
      () => 'clean',
      (error: Error) => error.message,
    );
    return { lines, outcome };
  }

  async function send(...payloads: object[]): Promise<string> {
    const { live } = world.ours;
    const sessionId = await openSession(world.service, live);
    const body = { events: payloads.map((payload) => ({ eventType: 'tool.result', payload })) };
    await world.service.call('POST', `/v1/sessions/${sessionId}/events`, { as: live, body });
    return sessionId;
  }

  test('finds nothing in sessions that were masked on the machine', async () => {
    await send({ output: 'password=[REDACTED:key-name:3f2a]', redactions: { 'key-name': 1 } });
    const { lines, outcome } = await sweep();
    expect(outcome).toBe('clean');
    expect(lines.join('\n')).toMatch(/^\d+ sessions were read\. Nothing was changed\.$/);
  });

  test('reports what the rules find, also where parts cut it, names the hold, and changes nothing', async () => {
    const { ours, service } = world;
    const whole = await send({ output: 'nothing' }, { output: `export GH=${TOKEN}` });
    const cut = JSON.stringify({ source: SOURCE, output: `${'x'.repeat(150)} ${TOKEN} ${'y'.repeat(300)}` });
    const parts = await send(...splitPayload(SOURCE, cut, 320));
    const target = { kind: 'session', id: parts };
    const body = { target, reason: 'a lawsuit' };
    const { holdId } = (await service.call('POST', '/v1/organizations/me/holds', { as: ours.admin, body })).body.hold;

    const { lines, outcome } = await sweep();
    expect(outcome).toBe("Today's rules find something in 2 sessions. Mask it there; docs/masking.md says how.");
    expect(lines.slice(0, -1).sort()).toEqual(
      [`${whole}: 1 event: github-token 1`, `${parts}: 1 event: github-token 1; held by ${holdId}`].sort(),
    );
    expect(lines.join('\n')).not.toContain(TOKEN);

    const [first = '', second = ''] = [whole, parts].sort();
    expect((await sweep('--after', first)).lines[0]).toContain(second);
    expect((await sweep('--after', second)).outcome).toBe('clean');
    const url = `/v1/organizations/me/sessions/${whole}/events`;
    expect((await service.call('GET', url, { as: ours.member })).text).toContain(TOKEN);

    await service.call('POST', `/v1/organizations/me/sessions/${whole}/mask`, {
      as: ours.member,
      body: { text: TOKEN },
    });
    expect((await sweep()).lines.slice(0, -1)).toEqual([`${parts}: 1 event: github-token 1; held by ${holdId}`]);
  });

  test.each([['--apply'], ['--after'], ['--after', 'a', 'b']])('refuses %j', async (...options) => {
    expect((await sweep(...options)).outcome).toContain('`sweep` takes no option but --after SESSION');
  });
});
