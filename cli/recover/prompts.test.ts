import fs, { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from '../test/folder.ts';
import { type RealService, startRealService } from '../test/real-service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

const BEFORE = Date.UTC(2026, 2, 1, 9);

const ofClaude = (session: number, text: string, more: object = {}) =>
  JSON.stringify({
    display: text,
    pastedContents: {},
    timestamp: BEFORE,
    project: '/home/dev/shop',
    sessionId: sessionId(session),
    ...more,
  });

function remember(real: RealService, lines: readonly string[], path = '.claude/history.jsonl'): void {
  write(join(real.home, path), `${lines.join('\n')}\n`);
}

const written = ({ home }: RealService) => {
  const folder = join(home, 'state/custom/prompts');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
};

async function recover(real: RealService, ...more: string[]) {
  const { exitCode, stdout } = await real.run('recover', '--prompts', '--json', ...more);
  expect(exitCode).toBe(0);
  return JSON.parse(stdout);
}

/** A machine with one captured session. */
async function setUp() {
  const real = await startRealService();
  write(join(real.home, '.claude/projects/shop', `${sessionId(1)}.jsonl`), `${prompt(1, 0, 'captured')}\n`);
  expect(await real.run('import')).toMatchObject({ exitCode: 0 });
  return real;
}

test('prompts of sessions that nobody has any more become sessions that say that they are incomplete', async () => {
  const real = await setUp();
  const pasted = { 1: { id: 1, type: 'text', content: 'a long log' } };
  remember(real, [
    ofClaude(1, 'captured'),
    ofClaude(2, 'look at [Pasted text #1 +20 lines]', { pastedContents: pasted }),
    ofClaude(2, 'and then?', { timestamp: BEFORE + 60_000 }),
    'not JSON',
    ofClaude(3, 'without a session', { sessionId: undefined }),
    ofClaude(3, 'hostile', { sessionId: '../../.ssh/authorized_keys' }),
  ]);
  remember(
    real,
    [JSON.stringify({ session_id: sessionId(4), ts: BEFORE / 1000, text: 'of Codex' })],
    '.codex/history.jsonl',
  );
  expect(await recover(real, '--dry-run')).toMatchObject({ written: 2, prompts: 3, present: 1 });
  expect(written(real)).toEqual([]);
  expect(await recover(real)).toEqual({ written: 2, prompts: 3, exists: 0, present: 1, keptBack: 0 });
  expect(await recover(real)).toEqual({ written: 0, prompts: 0, exists: 2, present: 1, keptBack: 0 });
  expect(written(real)).toEqual([`claude-code-${sessionId(2)}.jsonl`, `codex-${sessionId(4)}.jsonl`]);
  expect(statSync(join(real.home, 'state/custom/prompts', `claude-code-${sessionId(2)}.jsonl`)).mtimeMs).toBe(
    BEFORE + 60_000,
  );
  await real.run('import');
  await recover(real);
  await real.run('import');
  const events = (await real.events()).filter(({ payload }) => payload.source.agent === 'custom');
  const said = events.map(({ eventType, payload }) => [eventType, payload.text ?? payload.title, payload.occurredAt]);
  expect(said).toEqual(
    expect.arrayContaining([
      ['session.meta', 'Prompts only: look at a long log', undefined],
      ['notice', expect.stringContaining('Claude Code deleted its transcript'), '2026-03-01T09:00:00.000Z'],
      ['user.message', 'look at a long log', '2026-03-01T09:00:00.000Z'],
      ['user.message', 'and then?', '2026-03-01T09:01:00.000Z'],
      ['user.message', 'of Codex', '2026-03-01T09:00:00.000Z'],
    ]),
  );
  expect(events).toHaveLength(7);
  expect(await real.verify()).toMatchObject({ exitCode: 0, findings: [] });
});

test('prompts of sessions that the person keeps back stay on the machine', async () => {
  const real = await setUp();
  const path = write(join(real.home, '.claude/projects/shop', `${sessionId(2)}.jsonl`), `${prompt(2, 0, 'skipped')}\n`);
  expect(await real.run('skip', sessionId(2))).toMatchObject({ exitCode: 0 });
  rmSync(path);
  mkdirSync(join(real.home, 'secret'));
  writeFileSync(join(real.home, 'state/preferences.json'), JSON.stringify({ exclude: [join(real.home, 'secret')] }));
  remember(real, [ofClaude(2, 'skipped'), ofClaude(3, 'excluded', { project: join(real.home, 'secret') })]);
  expect(await recover(real)).toMatchObject({ written: 1, keptBack: 1 });
  await real.run('import');
  expect(JSON.stringify(await real.events())).not.toMatch(/skipped|excluded/);
});

test('a session that was not captured but is still there is left out', async () => {
  const real = await setUp();
  write(join(real.home, '.claude/projects/shop', `${sessionId(5)}.jsonl`), `${prompt(5, 0, 'here')}\n`);
  remember(real, [ofClaude(5, 'here')]);
  expect(await recover(real)).toMatchObject({ written: 0, present: 1 });
  expect((await real.run('recover', '--prompts', sessionId(5))).exitCode).toBe(2);
  expect(readFileSync(join(real.home, '.claude/history.jsonl'), 'utf8')).toContain('here');
});

test('a file is as old as its last prompt before it has its name, so capture never takes it for new', async () => {
  const real = await setUp();
  remember(real, [ofClaude(2, 'earlier')]);
  const { linkSync } = fs;
  const ages: number[] = [];
  Object.assign(fs, {
    linkSync(from: string, to: string) {
      ages.push(statSync(from).mtimeMs);
      linkSync(from, to);
    },
  });
  syncBuiltinESMExports();
  try {
    await recover(real);
  } finally {
    Object.assign(fs, { linkSync });
    syncBuiltinESMExports();
  }
  expect(ages).toEqual([BEFORE]);
});
