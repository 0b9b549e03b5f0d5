import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLine } from '../line.ts';
import { ENGINES } from './engines.ts';
import { startWorld, type World } from './world.ts';

describe('a line', () => {
  test('lets some of each group in at a time, each in its turn, and no more wait than there may', async () => {
    const inLine = createLine({ atOnce: 2, mostWaiting: 1 });
    const begun: string[] = [];
    const gates: PromiseWithResolvers<void>[] = [];
    const enter = (group: string, name: string) => {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      const work = async () => {
        begun.push(name);
        await gate.promise;
        return name;
      };
      return inLine(group, work);
    };
    const [a, b, c] = [enter('one', 'a'), enter('one', 'b'), enter('one', 'c')];
    await expect(enter('one', 'd')).rejects.toMatchObject({ code: 'service_unavailable', retryAfter: 1 });
    const other = enter('other', 'e');
    expect(begun).toEqual(['a', 'b', 'e']);
    gates[1]?.reject(new Error('failed'));
    await expect(b).rejects.toThrow('failed');
    for (const gate of gates) gate.resolve();
    expect(await Promise.all([a, c, other])).toEqual(['a', 'c', 'e']);
    expect(begun).toEqual(['a', 'b', 'e', 'c']);
    const again = enter('one', 'f');
    for (const gate of gates) gate.resolve();
    expect(await again).toBe('f');
  });
});

describe.each(ENGINES)('searches of one organization on %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(engine);
  });
  afterAll(() => world.service.close());

  test('are told to come again where hundreds are asked at once, and another organization is answered', async () => {
    const { service, ours, theirs } = world;
    const ask = async (as: string) => (await service.call('GET', '/v1/organizations/me/search?q=two', { as })).status;
    const many = Array.from({ length: 300 }, () => ask(ours.member));
    expect(await ask(theirs.member)).toBe(200);
    expect(new Set(await Promise.all(many))).toEqual(new Set([200, 503]));
    expect(await ask(ours.member)).toBe(200);
  });
});
