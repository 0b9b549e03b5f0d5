import { capturing } from '../requests.ts';
import type { World } from '../world.ts';

export const ofKey = (letter: string) => ({ clientKey: letter.repeat(43) });

/** Captures one session under the key. @returns its id */
export async function captured(world: World, letter: string, as = world.ours.live): Promise<string> {
  const body = { sessions: [capturing(world, letter.repeat(43))] };
  const reply = await world.service.call('POST', '/v1/captured-sessions', { as, body });
  return reply.body.results[0].session.sessionId;
}

export const events = (...texts: string[]) => ({
  events: texts.map((text) => ({ eventType: 'user.message', payload: { text } })),
});
