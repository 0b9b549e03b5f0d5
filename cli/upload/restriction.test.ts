import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { isStricter, strictestOf, VISIBILITIES, type Visibility } from '../../contract/session.ts';
import { runs } from '../../contract/test/runs.ts';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

/** A machine with a session in a folder, and a service that records who could see each event when it arrived. */
async function prepare() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const folder = join(home, 'shop');
  mkdirSync(folder);
  const prefer = (visibility: string) => write(join(home, 'state/preferences.json'), JSON.stringify({ visibility }));
  const commit = (wish: object, at = folder) => write(join(at, '.session-capture.json'), JSON.stringify(wish));
  let count = 0;
  const texts: string[] = [];
  const say = (session = 1, cwd = folder) => {
    texts.push(prompt(session, count++, `text ${count}`, { cwd }));
    write(join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`), `${texts.join('\n')}\n`);
  };
  const options = { home, url: service.url, secret: 'sk_live_test' };
  const capture = Object.assign((...args: string[]) => run(args, options), {
    /** Runs while a request fails, or is answered. */
    during: (path: string, happens: () => void, isAnswered = false) =>
      run(['import'], { ...options, context: { fetch: during(path, happens, isAnswered) } }),
  });
  const visibilities = () => service.seen.map(({ visibility }) => visibility);
  const decide = (visibility: Visibility) => {
    const spool = openSpool(':memory:', join(home, 'state'));
    spool.decisions.setVisibility('claude-code', sessionId(1), visibility, Date.now());
    spool.close();
  };
  return { service, home, folder, prefer, commit, say, capture, visibilities, decide };
}

test('a new session is as private as the machine is set to, from its first event on', async () => {
  const { prefer, say, capture, visibilities } = await prepare();
  prefer('private');
  say();
  expect((await capture('import')).exitCode).toBe(0);
  expect(new Set(visibilities())).toEqual(new Set(['private']));
});

test('a folder sets who sees its sessions, and never more people than a folder above it', async () => {
  const { home, commit, say, capture, visibilities } = await prepare();
  commit({ visibility: 'facts' }, home);
  commit({ capture: true, visibility: 'team' });
  say();
  await capture('import');
  expect(new Set(visibilities())).toEqual(new Set(['facts']));
});

test('a folder with an unknown visibility keeps its sessions on the machine', async () => {
  const { commit, say, capture, visibilities } = await prepare();
  commit({ visibility: 'nobody' });
  say();
  expect((await capture('import')).stdout).toContain('Kept back 1 transcript');
  expect(visibilities()).toEqual([]);
});

test("a changed setting applies to new sessions; a person's wish for one session applies before its next event", async () => {
  const { service, prefer, say, capture, visibilities, decide } = await prepare();
  say();
  await capture('import');
  const before = visibilities().length;
  prefer('facts');
  say();
  await capture('import');
  expect(new Set(visibilities())).toEqual(new Set(['team']));
  decide('private');
  say();
  await capture('import');
  expect(visibilities().length).toBeGreaterThan(before);
  expect(visibilities().at(-1)).toBe('private');
  expect(service.state.requests).toContain('PUT /v1/sessions/{ses}/visibility');
});

test("nothing is sent to another person's session that this machine may not hide", async () => {
  const { service, home, say, capture } = await prepare();
  say();
  await capture('import');
  const before = service.seen.length;
  // Another state folder, as after its loss. The service finds the session by its key, and does not say who owns it.
  service.state.isOwn = false;
  const state = join(home, 'other');
  write(join(state, 'preferences.json'), '{"visibility":"private"}');
  say();
  const variables = { CAPTURE_HOME: state };
  const { exitCode } = await run(['import'], { home, url: service.url, secret: 'sk_live_test', variables });
  expect(exitCode).not.toBe(0);
  expect(service.seen.length).toBe(before);
  // A retry does not send anything either, now that the session is known.
  const again = await run(['import'], { home, url: service.url, secret: 'sk_live_test', variables });
  expect(again.exitCode).not.toBe(0);
  expect(service.seen.length).toBe(before);
});

/** Runs something during the first request to a path, which fails or is answered. */
function during(path: string, happens: () => void, isAnswered: boolean): typeof fetch {
  let isFirst = true;
  return async (input, init) => {
    if (!isFirst || !String(input).endsWith(path)) return fetch(input, init);
    isFirst = false;
    const answer = isAnswered ? await fetch(input, init) : undefined;
    happens();
    if (answer === undefined) throw new TypeError('fetch failed');
    return answer;
  };
}

test.each(['private', 'facts'] as const)(
  "a person's wish during a retry applies to the retried events: %s",
  async (said) => {
    const { say, capture, visibilities, decide } = await prepare();
    say();
    await capture('import');
    const before = visibilities().length;
    say();
    expect((await capture.during('/v1/appends', () => decide(said))).exitCode).toBe(0);
    expect(visibilities().length).toBeGreaterThan(before);
    expect(new Set(visibilities().slice(before))).toEqual(new Set([said]));
  },
);

test('a setting of machine or folder that changes while a session waits applies to its opening', async () => {
  const { say, capture, prefer, visibilities } = await prepare();
  say();
  expect((await capture.during('/v1/captured-sessions', () => prefer('private'))).exitCode).toBe(0);
  expect(visibilities().length).toBeGreaterThan(1);
  expect(new Set(visibilities())).toEqual(new Set(['private']));
});

test.each(['said', 'set'])('a visibility %s during the answer to an opening applies to the events', async (how) => {
  const { say, capture, prefer, visibilities, decide } = await prepare();
  say();
  const happens = () => (how === 'said' ? decide('private') : prefer('private'));
  expect(await capture.during('/v1/captured-sessions', happens, true)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(visibilities().length).toBeGreaterThan(1);
  expect(visibilities().at(-1)).toBe('private');
});

test.each(['/v1/captured-sessions', '/v1/appends'])(
  'settings that are damaged during the retry of %s delay it until they are repaired',
  async (path) => {
    const { home, say, capture, prefer, visibilities } = await prepare();
    prefer('private');
    say();
    const damage = () => write(join(home, 'state/preferences.json'), '{"visibility":');
    expect((await capture.during(path, damage)).exitCode).not.toBe(0);
    expect(visibilities().length).toBe(path === '/v1/appends' ? 1 : 0);
    prefer('private');
    expect((await capture('import')).exitCode).toBe(0);
    expect(visibilities().length).toBeGreaterThan(1);
    expect(new Set(visibilities())).toEqual(new Set(['private']));
  },
);

test.each(['/v1/captured-sessions', '/v1/appends'])(
  'a folder that is excluded during the retry of %s keeps its session on the machine',
  async (path) => {
    const { home, folder, say, capture, visibilities } = await prepare();
    say();
    const exclude = () => write(join(home, 'state/preferences.json'), JSON.stringify({ exclude: [folder] }));
    await capture.during(path, exclude);
    expect(visibilities().length).toBe(path === '/v1/appends' ? 1 : 0);
  },
);

const visibility = fc.option(fc.constantFrom(...VISIBILITIES), { nil: undefined });

test('whatever organization, machine, folder and person ask for, nothing arrives where more people see it', async () => {
  const given = fc.record({ organization: visibility, machine: visibility, folder: visibility, said: visibility });
  await fc.assert(
    fc.asyncProperty(given, fc.boolean(), async ({ organization, machine, folder, said }, isResumed) => {
      const { service, prefer, commit, say, capture, visibilities, decide } = await prepare();
      if (organization) service.state.visibility = organization;
      if (machine) prefer(machine);
      if (folder) commit({ visibility: folder });
      if (said) decide(said);
      say();
      await capture('import');
      if (isResumed) for (const session of service.state.sessions.values()) session.status = 'completed';
      say();
      await capture('import');
      const wanted = strictestOf(organization, machine, folder, said);
      expect(visibilities().length).toBeGreaterThan(1);
      for (const seen of visibilities()) expect(isStricter(wanted, seen)).toBe(false);
    }),
    runs(12),
  );
});

test('a session that the service cannot hide for now does not block another one', async () => {
  const { service, home, say, capture, decide } = await prepare();
  say();
  await capture('import');
  decide('private');
  say();
  write(join(home, '.claude/projects/shop', `${sessionId(2)}.jsonl`), `${prompt(2, 0, 'another')}\n`);
  const fetchBroken: typeof fetch = (input, init) =>
    String(input).endsWith('/visibility')
      ? Promise.resolve(Response.json({ code: 'unavailable', error: 'The database is busy.' }, { status: 503 }))
      : fetch(input, init);
  const options = { home, url: service.url, secret: 'sk_live_test' };
  const { exitCode, stderr } = await run(['import', '--patience', '8'], {
    ...options,
    context: { fetch: fetchBroken },
  });
  const texts = () => [...service.eventsBySession().values()].flat().flatMap(({ payload }) => payload.text ?? []);
  expect(texts()).toEqual(['text 1', 'another']);
  expect([exitCode, stderr]).toEqual([75, expect.stringContaining('visible to fewer people: The database is busy.')]);
  await capture('import');
  expect(texts()).toHaveLength(3);
});

test('a sent fork is hidden with its parent', async () => {
  const { service, home, say, capture } = await prepare();
  say();
  const fork = join(home, '.claude/projects/shop', `${sessionId(2)}.jsonl`);
  write(fork, `${prompt(1, 0, 'text 1', { sessionId: sessionId(2) })}\n${prompt(2, 9, 'of the fork')}\n`);
  await capture('import');
  expect(service.state.sessions.size).toBe(2);
  expect(await capture('visibility', sessionId(1), 'private')).toMatchObject({ exitCode: 0 });
  expect([...service.state.sessions.values()].map(({ visibility }) => visibility)).toEqual(['private', 'private']);
});
