import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT } from '../../cli/failure.ts';
import { start } from '../../cli/test/program.ts';
import { prompt, sessionId } from '../../cli/test/transcripts.ts';
import { startWire } from '../../test/wire.ts';
import { createClient } from '../client.ts';
import { createClock, together } from '../clock.ts';
import { createDisk } from '../disk.ts';
import { createHistory, readHistory, textOf } from '../history.ts';
import { clockFaults, killed, settleIn, supervise, wireFaults } from '../install.ts';
import { EMPTY, judge, type Stored, type Verdict } from '../judge.ts';
import { add, breakInTurn, type Fault, type Outcome, type RoundsOptions } from '../rounds.ts';

const DISK_MB = 300;
const SESSIONS = 4;
/** Records added to each session in a round. */
const RECORDS = 520;
/** Duration of a fault that does not end the program. */
const LASTS_MS = 300;

/** How `capture import` may end during a fault. */
const EXPECTED = new Set<number | string>([0, EXIT.temporary, EXIT.failure, 'SIGKILL']);

/**
 * Runs `capture import` repeatedly while transcripts grow, with its spool on a separate disk if possible and the service behind
 * a wire. After a run without a fault, the service must have exactly the records of the transcripts.
 */
export async function runSpool(options: RoundsOptions): Promise<Outcome> {
  const { random, folder } = options;
  const disk = createDisk(DISK_MB);
  const clock = createClock();
  const home = mkdtempSync(join(tmpdir(), 'capture-faults-'));
  const { secret, token, releases, variables, close } = await settleIn({ dataDir: join(home, 'store') });
  const service = await supervise(releases.current, join(home, 'store'), variables);
  let pieces = 0;
  const wire = await startWire(
    () => Number(new URL(service.url()).port),
    undefined,
    (asked) => {
      pieces++;
      return asked;
    },
  );
  const url = `http://127.0.0.1:${wire.port}`;
  const state = { CAPTURE_HOME: join(disk?.path ?? home, 'state') };
  const run = () =>
    start(['import'], { home, url, secret, variables: { ...state, ...together(clock?.variables, disk?.variables) } });
  let importing = run();
  const end = async () => void (await importing.end('SIGKILL'));
  await importing.ended;

  const faults: Record<string, Fault> = {
    'capture killed': { break: end, mend: () => undefined },
    'the service killed': killed(service),
    ...wireFaults('the service', wire),
    ...clockFaults(clock),
    ...(disk && {
      'power of the spool cut': {
        break: disk.cut,
        async mend() {
          await end();
          await disk.restore();
        },
      },
      'disk of the spool full': { break: disk.fill, mend: disk.free },
      'sync of the spool failed': { break: () => disk.order('fail'), mend: () => disk.order('sync') },
    }),
  };

  /** Adds records to a session's transcript. The history later lists them as acknowledged. */
  const grown = new Map<number, number>();
  function grow(session: number, round: number): Grown {
    const from = grown.get(session) ?? 0;
    const name = `session-${session}-round-${round}`;
    const project = join(home, '.claude', 'projects', '-home-dev-shop');
    mkdirSync(project, { recursive: true });
    const lines = Array.from({ length: RECORDS }, (_, index) => prompt(session, from + index, textOf(name, index)));
    appendFileSync(join(project, `${sessionId(session)}.jsonl`), `${lines.join('\n')}\n`);
    grown.set(session, from + RECORDS);
    return { name, session: sessionId(session), first: from + 1, last: from + RECORDS };
  }

  async function playRound(fault: Fault): Promise<void> {
    const enough = pieces + Math.floor(random() * 12);
    importing = run();
    while (pieces < enough && importing.isRunning()) await pause(2);
    await fault.break();
    await Promise.race([importing.ended, pause(LASTS_MS)]);
    await fault.mend();
    // Like a person who interrupts a slow command.
    if (random() < 0.5) await end();
    const code = await importing.ended;
    if (!EXPECTED.has(code)) throw new Error(`capture ended with ${code}: ${importing.output()}`);
  }

  /** Retries until everything is captured: the first runs may still fail because of a repaired fault. */
  async function captureAll(tries = 5): Promise<void> {
    importing = run();
    const code = await importing.ended;
    if (code === 0) return;
    if (tries === 0) throw new Error(`capture ended with ${code} without a fault: ${importing.output()}`);
    await captureAll(tries - 1);
  }

  const client = createClient({ urls: () => [url], token, random });
  /** Joins the service's sessions of each agent session. */
  async function readAll(sessions: ReadonlySet<string>): Promise<Map<string, Stored>> {
    const stored = new Map<string, Stored>();
    for (const session of await client.listSessions()) {
      const source = await client.sourceOf(session);
      if (source === undefined || !sessions.has(source)) continue;
      const before = stored.get(source)?.events ?? [];
      const { events } = await client.readSession(session, 0);
      const all = [...before, ...events.map(({ sequence, text }) => ({ text, sequence: sequence + before.length }))];
      stored.set(source, { eventCount: all.length, events: all });
    }
    return stored;
  }

  const paths: string[] = [];
  const judgeChapters = async (chapters: readonly string[]): Promise<Verdict> => {
    let verdict = EMPTY;
    for (const path of chapters) {
      const lines = readHistory(path);
      const sessions = new Set(lines.flatMap((line) => ('send' in line ? [line.session] : [])));
      verdict = add(verdict, judge(lines, await readAll(sessions)));
    }
    return verdict;
  };

  try {
    let place = 0;
    let written: Grown[] = [];
    const { rounds, broken } = await breakInTurn(faults, options, {
      async play(_, fault, round) {
        for (let at = 0; at < SESSIONS; at++) written.push(grow(place + at, round));
        await playRound(fault);
      },
      async finish(chapter) {
        await captureAll();
        const path = join(folder, `history-${chapter}.jsonl`);
        const history = createHistory(path);
        for (const { name, session, first, last } of written) {
          history.write({ send: name, session, count: RECORDS });
          history.write({ answer: name, status: 200, first, last });
        }
        history.close();
        paths.push(path);
        written = [];
        place += SESSIONS;
        return judgeChapters([path]);
      },
    });
    return { ...(await judgeChapters(paths)), rounds, broken };
  } finally {
    await end();
    await service.kill();
    await wire.cut().catch(() => undefined);
    close();
    await disk?.dispose();
    rmSync(home, { recursive: true, force: true });
  }
}

interface Grown {
  name: string;
  session: string;
  first: number;
  last: number;
}
