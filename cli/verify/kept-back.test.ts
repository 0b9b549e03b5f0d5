import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { patience, runs, seeded } from '../../contract/test/runs.ts';
import { claudeCode } from '../agents/claude-code/claude-code.ts';
import { createPolicy, type Policy } from '../privacy/policy.ts';
import { FILE_START } from '../read/cursor.ts';
import { createRecordHash } from '../read/identity.ts';
import { openRecords } from '../read/open.ts';
import { createReader } from '../read/reader.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { spooledEvents } from '../test/reading.ts';
import { sessionId, uuid } from '../test/transcripts.ts';
import { whyKeptBack } from './kept-back.ts';
import { positionOf } from './transcript.ts';

const HOUR = 3_600_000;
const MAX_HOURS = 40;
const BASE = Date.now() - 2 * MAX_HOURS * HOUR;
const hour = fc.integer({ min: 0, max: MAX_HOURS });
const timeOf = (hours: number) => BASE + hours * HOUR;

/** A session's own transcript, that of its sub-agent, and that of another session. */
const FILES = [
  { session: 1, path: `shop/${sessionId(1)}.jsonl` },
  { session: 1, path: `shop/${sessionId(1)}/subagents/agent-a1.jsonl` },
  { session: 2, path: `shop/${sessionId(2)}.jsonl` },
];

const record = fc.record({
  file: fc.nat(FILES.length - 1),
  time: fc.option(hour, { nil: undefined, freq: 3 }),
  restates: fc.boolean(),
  /** Whether it is written with the one before it, so that one look finds both. */
  isJoined: fc.boolean(),
});
const records = (one: typeof record) => fc.array(one, { minLength: 1, maxLength: 12 });
type Written = typeof record extends fc.Arbitrary<infer Value> ? Value : never;

const period = fc.tuple(hour, hour).map(([from, more]) => ({
  from: timeOf(from),
  until: timeOf(from + 1 + (more % 8)),
  isEnded: true,
}));

const decisions = fc.record({
  consent: fc.option(
    fc.record({ since: hour.map(timeOf), history: fc.constant('none' as const), isLost: fc.boolean() }),
    {
      nil: undefined,
    },
  ),
  pauses: fc.array(period, { maxLength: 2 }),
  expired: fc.option(hour, { nil: undefined }),
});

const markerOf = (number: number) => `marker-${number}-`;

function lineOf({ file, time, restates }: Written, number: number): string {
  const session = FILES[file]?.session ?? 0;
  const common = { sessionId: sessionId(session), ...(time !== undefined && { timestamp: new Date(timeOf(time)) }) };
  const text = markerOf(number);
  if (time === undefined) {
    return JSON.stringify({
      ...common,
      ...(restates ? { type: 'summary', summary: text } : { type: 'mode', mode: text }),
    });
  }
  const more = { type: 'user', uuid: uuid(1, number, session), ...(restates && { isCompactSummary: true }) };
  return JSON.stringify({ ...common, ...more, message: { content: text } });
}

/** Every record of the transcripts that was read, with the reason for which verify does not expect it. */
function readAgain(root: string, spool: Spool, policy: Policy) {
  return FILES.flatMap(({ path }) => {
    const row = spool.files.find(claudeCode.id, root, path);
    if (row === undefined) return [];
    const why = whyKeptBack(spool, policy, row);
    const { origin, cursor } = row;
    const stream = openRecords({
      agent: claudeCode,
      root,
      path,
      origin,
      cursor: FILE_START,
      hashRecord: createRecordHash(new Uint8Array(32)),
      chunkBytes: 4096,
      isAbandoned: false,
      settledBefore: Number.POSITIVE_INFINITY,
    });
    const all = [];
    for (let one = stream.next(); one && positionOf(one) < cursor.position; one = stream.next()) {
      const [marker] = JSON.stringify(one.events).match(/marker-\d+-/) ?? [];
      all.push({ marker, why: why(one), hasOwnTime: one.written.to === one.written.from, restates: one.restates });
    }
    stream.close();
    return all;
  });
}

test(
  `the reader leaves out exactly what verify does not expect, and verify allows for records without a time ${seeded}`,
  async () => {
    const counts = { stayed: 0, left: 0, untimed: 0 };
    const property = fc.asyncProperty(
      fc.oneof(records(record), records(record.map((one) => ({ ...one, isJoined: true })))),
      decisions,
      async (written, { consent, pauses, expired }) => {
        const root = makeFolder();
        const spool = openSpool(':memory:');
        const { transact } = spool;
        const policy = createPolicy({
          ...{ home: root, variables: {}, now: Date.now, platform: 'linux' },
          ...{ decisions: spool.decisions, transact },
        });
        if (consent) spool.decisions.setConsent(consent);
        spool.decisions.setPauses(pauses);
        if (expired !== undefined) {
          spool.sessions.expire(spool.sessions.ensure(claudeCode.id, sessionId(1)), timeOf(expired));
        }
        let clock = BASE;
        const reader = createReader({
          ...{ spool, policy, consent, now: () => clock, patienceMs: 0, newKey: () => `${clock}` },
          redactor: { redact: (events) => [...events] },
          hashRecord: createRecordHash(new Uint8Array(32)),
          onTrouble: ({ path, reason }) => expect.fail(`${path}: ${reason}`),
        });
        const look = () =>
          reader.read(reader.findWork([{ agent: claudeCode, root, below: '' }]), {
            isStopped: () => false,
            onCommit: () => {},
          });
        const texts = FILES.map(() => '');
        for (const [number, one] of written.entries()) {
          texts[one.file] += `${lineOf(one, number)}\n`;
          clock = Math.max(clock + 1000, timeOf(one.time ?? 0));
          const path = join(root, FILES[one.file]?.path ?? '');
          write(path, texts[one.file] ?? '');
          utimesSync(path, clock / 1000, clock / 1000);
          if (!one.isJoined) await look();
        }
        clock += 1000;
        await look();
        // A later look may find an earlier beginning of the session, which earlier looks did not know.
        const isOneLook = written.every(({ isJoined }) => isJoined);
        const captured = JSON.stringify([...spooledEvents(spool).values()]);
        for (const { marker = '', why, hasOwnTime, restates } of readAgain(root, spool, policy)) {
          const isCaptured = captured.includes(marker);
          if (!isCaptured) expect(why, `${marker} stayed`).toBeDefined();
          if (isCaptured && hasOwnTime && (!restates || isOneLook)) expect(why, `${marker} left`).toBeUndefined();
          counts[hasOwnTime ? (isCaptured ? 'left' : 'stayed') : 'untimed']++;
        }
        spool.close();
      },
    );
    await fc.assert(property, runs(150));
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  },
  patience(60_000),
);
