import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { expectProblem } from '../shape.ts';
import { type Expected, type ExpectedSession, type Real, restart, rotate } from './model.ts';

type Command = fc.AsyncCommand<Expected, Real>;

/** A command with its name, the condition for running it, and its action with its expectations. */
const command = (
  name: string,
  check: (model: Expected) => boolean,
  run: (model: Expected, real: Real) => Promise<void>,
): Command => ({
  check: (model) => check(model),
  run,
  toString: () => name,
});

/** The session that the number `pick` selects. */
const chosen = (model: Expected, pick: number): ExpectedSession => {
  const sessions = [...model.sessions.values()];
  return sessions[pick % sessions.length] as ExpectedSession;
};
const anySession = (model: Expected) => model.sessions.size > 0;

const batch = (texts: readonly string[]) =>
  JSON.stringify({ events: texts.map((text) => ({ eventType: 'notice', payload: { text } })) });

const post = (real: Real, sessionId: string, body: string, key: string | undefined) =>
  real.service.call('POST', `/v1/sessions/${sessionId}/events`, {
    as: real.secret,
    body,
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });

/** Sends a batch and compares the answer with the model's, in any state of the session. */
async function append(model: Expected, real: Real, pick: number, texts: readonly string[], key: string | undefined) {
  const session = chosen(model, pick);
  const body = batch(texts);
  const reply = await post(real, session.sessionId, body, key);
  const earlier = key === undefined ? undefined : session.keys.get(key);
  if (earlier?.body === body) {
    expect(reply.text).toBe(earlier.answer);
    expect(reply.headers['idempotency-replayed']).toBe('true');
  } else if (earlier) expectProblem(reply, 400, 'idempotency_key_reused');
  else if (session.status !== 'active') expectProblem(reply, 409, 'session_closed');
  else {
    session.events.push(...texts);
    expect(reply.body).toEqual({
      sessionId: session.sessionId,
      accepted: texts.length,
      firstSequence: session.events.length - texts.length + 1,
      lastSequence: session.events.length,
      async: real.engine === 'bus',
    });
    if (key !== undefined) session.keys.set(key, { body, answer: reply.text });
  }
}

/** Sends a batch as an item of a bulk request, with an expected event count that is wrong by `off`. */
const appendExpecting = (pick: number, batchTexts: readonly string[], off: number) =>
  command(`expect(${pick}, ${batchTexts.length} events, ${off})`, anySession, async (model, real) => {
    const session = chosen(model, pick);
    const { sessionId, events, status } = session;
    const expectedEvents = Math.max(0, events.length + off);
    const item = { sessionId, idempotencyKey: randomUUID(), expectedEvents, body: JSON.parse(batch(batchTexts)) };
    const reply = await real.service.call('POST', '/v1/appends', { as: real.secret, body: { appends: [item] } });
    const [result] = reply.body.results;
    if (status !== 'active') return expect(result).toMatchObject({ code: 'session_closed' });
    if (expectedEvents !== events.length) {
      return expect(result).toMatchObject({ code: 'sequence_mismatch', eventCount: events.length });
    }
    events.push(...batchTexts);
    expect(result).toMatchObject({ accepted: batchTexts.length, lastSequence: events.length });
  });

const openSession = () =>
  command(
    'open',
    () => true,
    async (model, real) => {
      const body = { environmentId: real.machine.environmentId, agentInstallationId: real.machine.installationId };
      const reply = await real.service.call('POST', '/v1/sessions', { as: real.secret, body });
      expect(reply.status).toBe(201);
      const session = { sessionId: reply.body.sessionId, status: 'active' as const, events: [], keys: new Map() };
      model.sessions.set(model.sessions.size, session);
    },
  );

const appendBatch = (pick: number, texts: readonly string[], key: string | undefined) =>
  command(`append(${pick}, ${texts.length} events, ${key})`, anySession, (model, real) =>
    append(model, real, pick, texts, key),
  );

const repeatAppend = (pick: number) =>
  command(
    `repeat(${pick})`,
    (model) => anySession(model) && chosen(model, pick).keys.size > 0,
    async (model, real) => {
      const session = chosen(model, pick);
      const [key, { body, answer }] = [...session.keys][pick % session.keys.size] as [
        string,
        { body: string; answer: string },
      ];
      const replies = await Promise.all([1, 2, 3].map(() => post(real, session.sessionId, body, key)));
      for (const reply of replies) {
        if (reply.status === 409) expectProblem(reply, 409, 'idempotency_in_progress');
        else expect(reply.text).toBe(answer);
      }
    },
  );

const closeSession = (pick: number, status: 'completed' | 'failed') =>
  command(`close(${pick}, ${status})`, anySession, async (model, real) => {
    const session = chosen(model, pick);
    const url = `/v1/sessions/${session.sessionId}/complete`;
    const reply = await real.service.call('POST', url, { as: real.secret, body: { status } });
    if (session.status !== 'active') return expectProblem(reply, 409, 'session_already_closed');
    expect(reply).toMatchObject({ status: 200, body: { sessionId: session.sessionId, status } });
    session.status = status;
  });

const readPages = (pick: number, limit: number) =>
  command(`read(${pick}, ${limit} at a time)`, anySession, async (model, real) => {
    const session = chosen(model, pick);
    const url = `/v1/organizations/me/sessions/${session.sessionId}`;
    const as = real.tenant.member;
    const texts: string[] = [];
    let cursor: string | null = null;
    do {
      const at: string = cursor === null ? '' : `&cursor=${cursor}`;
      const { body } = await real.service.call('GET', `${url}/events?limit=${limit}${at}`, { as });
      for (const event of body.events) {
        expect(event.sequence).toBe(texts.length + 1);
        texts.push(event.payload.text);
      }
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(texts).toEqual(session.events);
    const { body } = await real.service.call('GET', url, { as });
    expect(body.session).toMatchObject({ status: session.status, eventCount: session.events.length });
  });

const rotateSecret = () =>
  command(
    'rotate',
    () => true,
    async (_, real) => {
      const old = await rotate(real);
      expectProblem(await real.service.call('GET', '/v1/secret', { as: old }), 401, 'secret_revoked');
    },
  );

const restartService = () =>
  command(
    'restart',
    () => true,
    (_, real) => restart(real),
  );

const pick = fc.nat({ max: 5 });
const texts = fc.array(fc.string({ maxLength: 8 }), { minLength: 1, maxLength: 50, size: 'small' });
const key = fc.constantFrom('a', 'b', 'c', undefined);

/** The more often a command is in the list, the more often it is drawn. */
const often = (one: fc.Arbitrary<Command>) => [one, one, one];

export const allCommands: fc.Arbitrary<Command>[] = [
  fc.constant(null).map(openSession),
  ...often(fc.tuple(pick, texts, key).map(([session, batchTexts, name]) => appendBatch(session, batchTexts, name))),
  ...often(pick.map(repeatAppend)),
  fc
    .tuple(pick, texts, fc.constantFrom(-1, 0, 0, 3))
    .map(([session, some, off]) => appendExpecting(session, some, off)),
  fc
    .tuple(pick, fc.constantFrom('completed' as const, 'failed' as const))
    .map(([session, status]) => closeSession(session, status)),
  fc.tuple(pick, fc.integer({ min: 1, max: 60 })).map(([session, limit]) => readPages(session, limit)),
  fc.constant(null).map(rotateSecret),
  fc.constant(null).map(restartService),
];
