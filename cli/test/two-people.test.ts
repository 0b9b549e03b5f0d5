import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { signInMachine } from '../../server/test/signed-in.ts';
import { makeFolder, write } from './folder.ts';
import { run } from './program.ts';
import { startRealService } from './real-service.ts';
import { prompt, sessionId } from './transcripts.ts';

/** Two people with machines of their own, and the same transcript. */
async function startTwo() {
  const real = await startRealService();
  const { service, tenant } = real;
  const file = join(real.home, '.claude/projects/p', `${sessionId(1)}.jsonl`);
  write(file, '');
  const machine = async (as: string, hostname: string, state = makeFolder()) => {
    const secret = await signInMachine(service, as, hostname);
    return { ...real.options, secret, variables: { CAPTURE_HOME: state } };
  };
  const ann = await machine(tenant.member, 'laptop-of-ann');
  const bob = await machine(tenant.admin, 'laptop-of-bob');
  let turn = 0;
  /** The next prompt of the transcript, which one of them then imports. */
  async function say(who: typeof ann) {
    appendFileSync(file, `${prompt(1, turn, `turn ${turn}`)}\n`);
    turn++;
    const { exitCode, stdout, stderr } = await run(['import'], who);
    expect(exitCode, stdout + stderr).toBe(0);
  }
  const rows = async () =>
    await service.store.db.selectFrom('sessions').selectAll().orderBy('created_at').orderBy('session_id').execute();
  /** The texts of each session, by its person. */
  async function textsBySession() {
    const owners = new Map((await rows()).map(({ session_id, user_id }) => [session_id, user_id]));
    const events = await real.events();
    const bySession = Map.groupBy(events, (event) => event.sessionId);
    return [...bySession].map(([id, of]) => ({
      owner: owners.get(id),
      texts: of.flatMap(({ payload }) => payload.text ?? []),
    }));
  }
  return { real, machine, ann, bob, say, rows, textsBySession };
}

test('two people with one transcript never write to one session, and lose nothing', async () => {
  const { ann, bob, say, rows, textsBySession } = await startTwo();
  await say(ann);
  await say(bob);
  await say(ann);
  await say(bob);
  const [first, second] = await rows();
  expect(await rows()).toHaveLength(2);
  expect(first?.user_id).not.toBe(second?.user_id);
  // The other session is marked as a fork of the first one.
  expect(second?.forked_from_key).toBe(first?.client_key);
  expect(await textsBySession()).toEqual([
    { owner: first?.user_id, texts: ['turn 0', 'turn 1', 'turn 2'] },
    { owner: second?.user_id, texts: ['turn 0', 'turn 1', 'turn 2', 'turn 3'] },
  ]);
});

test('a machine that loses its spool finds its own session beside that of the other person again', async () => {
  const { ann, bob, say, rows, textsBySession } = await startTwo();
  await say(ann);
  await say(bob);
  await say({ ...bob, variables: { CAPTURE_HOME: makeFolder() } });
  expect(await rows()).toHaveLength(2);
  expect((await textsBySession()).map(({ texts }) => texts)).toEqual([['turn 0'], ['turn 0', 'turn 1', 'turn 2']]);
});

test('a machine that gets another person continues the session of the former person in one of its own', async () => {
  const { real, ann, bob, say, rows, textsBySession } = await startTwo();
  await say(ann);
  const state = ann.variables;
  real.service.clock.now += 60_000;
  // The same spool, signed in by somebody else.
  await say({ ...bob, variables: state });
  await say({ ...bob, variables: state });
  const [first, second] = await rows();
  expect(second?.forked_from_key).toBe(first?.client_key);
  expect((await textsBySession()).map(({ texts }) => texts)).toEqual([['turn 0'], ['turn 1', 'turn 2']]);
});

test('a new laptop of the same person continues the session', async () => {
  const { real, machine, ann, say, rows } = await startTwo();
  await say(ann);
  await say(await machine(real.tenant.member, 'new-laptop-of-ann'));
  await say(ann);
  expect(await rows()).toHaveLength(1);
  expect((await real.events()).flatMap(({ payload }) => payload.text ?? [])).toEqual(['turn 0', 'turn 1', 'turn 2']);
});
