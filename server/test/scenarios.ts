import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProblemCode } from '../../contract/problem.ts';
import { ENGINES, type TestEngine } from './engines.ts';
import type { TestReply } from './harness.ts';
import { type AnyRouteName, type Ask, RIGHT, RIGHT_CALLER, request, TABLE } from './requests.ts';
import { expectProblem, expectShape } from './shape.ts';
import { startWorld, type World } from './world.ts';

/** One row of a noun's table: a request and its expected answer. */
export interface Scenario {
  route: AnyRouteName;
  name: string;
  /** Bearer credential; absent: a caller who may send the request. */
  as?: (world: World) => string | undefined | Promise<string>;
  /** The differences from the route's valid request. */
  ask?: Ask | ((world: World) => Ask | Promise<Ask>);
  /** The identity provider fails every call. */
  identityBroken?: true;
  /** Anyone may sign up at the identity provider. */
  openSignUp?: true;
  status: number;
  code?: ProblemCode;
  /** Expected fields of the answer. */
  body?: (world: World, ask: Ask) => unknown;
  /** A pattern that the error message matches. */
  says?: RegExp;
  /** Texts that the answer must not contain. */
  without?: (world: World) => string[];
  /** Checks the state afterwards. */
  after?: (world: World, reply: TestReply, ask: Ask) => Promise<void> | void;
}

/** Statuses that are decided before a handler uses its store. `callers.slow.test.ts` asks for 401 and 403 on every engine. */
const EARLY = new Set([400, 401, 403, 405]);

/** Runs each row on each engine, or on the first one if no engine can change its answer; all rows of a table in one world. */
export function playScenarios(
  noun: string,
  scenarios: readonly Scenario[],
  engines: readonly TestEngine[] = ENGINES,
): void {
  describe.each(engines)(`${noun} on %s`, (engine) => {
    let world: World;
    beforeAll(async () => {
      world = await startWorld(engine);
    });
    afterAll(() => world.service.close());

    const rows = scenarios.filter(({ status, after }) => engine === engines[0] || after || !EARLY.has(status));
    test.each(rows.map((scenario) => ({ ...scenario })))('$route $status: $name', async (scenario) => {
      const { ask, reply } = await play(world, scenario);
      const row = TABLE[scenario.route];
      const isLater = world.service.isAsync && scenario.route === 'appendEvents' && scenario.status === 200;
      const schema = row.replies[scenario.status];
      if (schema && scenario.status === 204) expect(reply).toMatchObject({ status: 204, text: '' });
      else if (schema) {
        expect(reply, reply.text).toMatchObject({ status: isLater ? 202 : scenario.status });
        // In an answer of several lines, each line has the shape.
        for (const body of row.contentType === 'application/x-ndjson' ? reply.body : [reply.body])
          expectShape(schema, body);
      } else expectProblem(reply, scenario.status, scenario.code);
      if (scenario.body) expect(reply.body).toMatchObject(scenario.body(world, ask) as object);
      if (scenario.says) expect(reply.body.error).toMatch(scenario.says);
      const { theirs } = world;
      const foreign = [theirs.organizationId, theirs.live, theirs.environmentId, theirs.sessionId];
      for (const text of [...foreign, ...(scenario.without?.(world) ?? [])]) expect(reply.text).not.toContain(text);
      await scenario.after?.(world, reply, ask);
    });
  });
}

/** Sends the request of a row. */
export async function play(world: World, scenario: Scenario): Promise<{ ask: Ask; reply: TestReply }> {
  const { identity } = world.service;
  identity.claims = scenario.openSignUp ? { asksBeforeJoining: true } : {};
  const ask = await askOf(world, scenario);
  const as = await (scenario.as ?? RIGHT_CALLER[TABLE[scenario.route].auth])(world);
  identity.broken = scenario.identityBroken ?? false;
  const reply = await request(world.service, scenario.route, ask, as);
  identity.broken = false;
  return { ask, reply };
}

async function askOf(world: World, { route, ask }: Scenario): Promise<Ask> {
  const right = RIGHT[route](world);
  const given = typeof ask === 'function' ? await ask(world) : ask;
  return { ...right, ...given };
}
