import { expect } from 'vitest';
import type { Service } from '../../test/service.ts';
import type { TestService } from './harness.ts';

/** One append that was sent: its content, and the answer if one came. */
export interface Sent {
  sessionId: string;
  key: string;
  texts: string[];
  /** Absent if nobody knows whether it was stored. */
  answer?: { text: string; firstSequence: number; lastSequence: number };
  /** Its session was closed before it arrived. */
  refused?: true;
}

let counter = 0;

/** Several callers send appends at once, each waiting for its answer, until `until` returns true or the service is gone. */
export async function sendLoad(
  service: Service,
  secret: string,
  sessionIds: readonly string[],
  sent: Sent[],
  until: () => boolean,
): Promise<void> {
  const callers = Array.from({ length: 8 }, async (_, index) => {
    const sessionId = String(sessionIds[index % sessionIds.length]);
    while (!until()) {
      const key = `key-${++counter}`;
      const texts = Array.from({ length: 1 + (counter % 4) }, (_, at) => `${key}/${at}`);
      const one: Sent = { sessionId, key, texts };
      sent.push(one);
      if (!(await send(service, secret, one))) return;
    }
  });
  await Promise.all(callers);
}

/** Sends every append with an unknown outcome again, under the same key. */
export async function settle(service: Service, secret: string, sent: readonly Sent[]): Promise<void> {
  for (const one of sent) if (!one.answer && !one.refused) expect(await send(service, secret, one), one.key).toBe(true);
}

/**
 * Sends an append, or repeats it: the answer must then equal the first one.
 * @returns false if the connection broke before an answer came, or the service could not tell the outcome
 */
export async function send(service: Pick<Service, 'url'>, secret: string, one: Sent): Promise<boolean> {
  const events = one.texts.map((text) => ({ eventType: 'notice', payload: { text } }));
  let reply: Response;
  let text: string;
  try {
    reply = await fetch(`${service.url}/v1/sessions/${one.sessionId}/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'idempotency-key': one.key },
      body: JSON.stringify({ events }),
    });
    text = await reply.text();
  } catch {
    return false;
  }
  if (reply.status === 503) return false;
  if (reply.status === 409 && JSON.parse(text).code === 'session_closed') {
    expect(one.answer).toBeUndefined();
    one.refused = true;
    return true;
  }
  expect([200, 202], text).toContain(reply.status);
  if (one.answer) expect(text).toBe(one.answer.text);
  one.answer = { text, ...(JSON.parse(text) as { firstSequence: number; lastSequence: number }) };
  return true;
}

/**
 * What must hold after the service ends in any way: every acknowledged event is at its acknowledged number, sequences have no
 * gap, nothing is stored twice, batches are whole, and no unsent event exists.
 */
export async function expectNothingLost(service: TestService, as: string, sent: readonly Sent[]): Promise<void> {
  for (const sessionId of new Set(sent.map((one) => one.sessionId))) {
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    const { events } = (await service.call('GET', `${url}/events?limit=1000000`, { as })).body as {
      events: { sequence: number; payload: { text: string } }[];
    };
    const stored = events.map(({ payload }) => payload.text);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(new Set(stored).size).toBe(stored.length);
    expect((await service.call('GET', url, { as })).body.session.eventCount).toBe(stored.length);
    let accounted = 0;
    for (const { texts, answer, sessionId: target } of sent) {
      if (target !== sessionId) continue;
      const first = answer ? answer.firstSequence - 1 : stored.indexOf(String(texts[0]));
      if (first < 0) for (const text of texts) expect(stored).not.toContain(text);
      else {
        expect(stored.slice(first, first + texts.length)).toEqual(texts);
        accounted += texts.length;
      }
    }
    expect(accounted).toBe(stored.length);
  }
}
