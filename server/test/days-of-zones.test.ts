import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES } from './engines.ts';
import { createTenant, type Machine, registerMachine, type Tenant } from './factories.ts';
import { startTestService, type TestService } from './harness.ts';
import { asked, find, idsOf, sessionWith } from './searched.ts';

/** Sessions by name, with the times at which they were active. The first one is their start. */
const SESSIONS = {
  // In Auckland the clock goes from two to three o'clock on Sunday 27 September.
  'saturday evening': ['2026-09-26T23:50:00+12:00'],
  'over midnight': ['2026-09-26T23:40:00+12:00', '2026-09-27T00:10:00+12:00'],
  'sunday night': ['2026-09-27T23:50:00+13:00'],
  'monday morning': ['2026-09-28T00:10:00+13:00'],
  'monday afternoon': ['2026-09-28T13:10:00+13:00'],
} as const;
type Name = keyof typeof SESSIONS;

describe.each(ENGINES)('a search by days on %s', (engine) => {
  let service: TestService;
  let ours: Tenant;
  let machine: Machine;
  const ids = new Map<string, Name>();

  beforeAll(async () => {
    service = await startTestService(engine);
    service.clock.now = Date.parse('2026-09-26T00:00:00Z');
    ours = await createTenant(service);
    machine = await registerMachine(service, ours.live);
    for (const [name, times] of Object.entries(SESSIONS)) {
      service.clock.now = Date.parse(times[0]);
      const events = times.map((time) => {
        const { eventType, payload } = asked('Go on.');
        return { eventType, payload: { ...payload, occurredAt: new Date(time).toISOString() } };
      });
      ids.set(await sessionWith(service, ours, machine, events), name as Name);
    }
    service.clock.now = Date.parse('2026-09-28T20:00:00+13:00');
  });
  afterAll(() => service.close());

  const found = async (q: string, zone?: string) => {
    const reply = await find(service, ours.member, { q, direction: 'asc', ...(zone && { zone }) });
    expect(reply.status, reply.text).toBe(200);
    return idsOf(reply).map((id) => ids.get(id));
  };

  test.each<[q: string, zone: string | undefined, names: Name[]]>([
    ['on:today', 'Pacific/Auckland', ['monday morning', 'monday afternoon']],
    ['on:monday', 'Pacific/Auckland', ['monday morning', 'monday afternoon']],
    ['on:yesterday', 'Pacific/Auckland', ['over midnight', 'sunday night']],
    ['on:2026-09-26', 'Pacific/Auckland', ['over midnight', 'saturday evening']],
    [
      'on:2026-09-26 on:today',
      'Pacific/Auckland',
      ['over midnight', 'saturday evening', 'monday morning', 'monday afternoon'],
    ],
    ['after:yesterday before:today', 'Pacific/Auckland', ['sunday night']],
    ['after:2026-09-27', 'Pacific/Auckland', ['sunday night', 'monday morning', 'monday afternoon']],
    // It is 21:00 on Sunday in Honolulu.
    ['on:today', 'Pacific/Honolulu', ['sunday night', 'monday morning', 'monday afternoon']],
    ['on:yesterday', 'Pacific/Honolulu', ['over midnight', 'saturday evening']],
    ['on:2026-09-26', 'Asia/Kolkata', ['over midnight', 'saturday evening']],
    ['on:yesterday', 'Asia/Kolkata', ['sunday night', 'monday morning']],
    ['on:today', undefined, ['monday afternoon']],
    ['on:yesterday', undefined, ['sunday night', 'monday morning']],
    ['on:yesterday', 'UTC', ['sunday night', 'monday morning']],
    ['after:2026-09-28T00:10+13:00', undefined, ['monday morning', 'monday afternoon']],
    ['before:2026-09-26T11:50Z', 'Pacific/Auckland', ['over midnight']],
  ])('the query %s in the zone %s finds %j', async (q, zone, names) => {
    expect((await found(q, zone)).toSorted()).toEqual(names.toSorted());
  });

  test.each(['Pacific/Auckland', 'Pacific/Honolulu', 'Asia/Kolkata', 'Asia/Kathmandu', 'UTC'])(
    'in %s, each day finds the sessions that were active on it',
    async (zone) => {
      const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
      for (const date of ['2026-09-25', '2026-09-26', '2026-09-27', '2026-09-28']) {
        const active = Object.entries(SESSIONS).filter(([, times]) =>
          times.some((time) => day.format(Date.parse(time)) === date),
        );
        expect((await found(`on:${date}`, zone)).toSorted(), date).toEqual(active.map(([name]) => name).toSorted());
      }
    },
  );

  test.each(['Pacific/Atlantis', '', 'x'.repeat(101)])('refuses the time zone %j', async (zone) => {
    const reply = await find(service, ours.member, { q: 'on:today', zone });
    expect(reply.status).toBe(400);
    expect(reply.body.error).toMatch(/^\/zone /);
  });
});
