import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Agent } from '../agents/agent.ts';
import { AGENTS } from '../agents/all.ts';
import { collection } from './agents/corpus.ts';
import { type Captured, digestsOf, eventsByFile } from './by-file.ts';
import { makeFolder, write } from './folder.ts';
import { openReading } from './reading.ts';

interface Series {
  agent: Agent;
  session: string;
  /** Whether each snapshot begins with the one before. */
  grows: boolean;
  /** Their paths, the oldest first; some are missing in between. */
  paths: string[];
}

const root = collection();
const series = root === undefined ? [] : readSeries(readFileSync(join(root, 'INDEX.md'), 'utf8'));

test.skipIf(root === undefined)('the collection has series of snapshots of both kinds', () => {
  expect(series.filter(({ grows }) => grows)).toHaveLength(2);
  expect(series.filter(({ grows }) => !grows)).toHaveLength(1);
});

test.each(series.filter(({ grows }) => grows))(
  'snapshots of $agent.displayName session $session, one in the place of the other, give the events of the last one',
  async ({ agent, paths }) => {
    const last = paths.slice(-1);
    const whole = await readInPlace(agent, last);
    expect(whole.length).toBeGreaterThan(100);
    expect(digestsOf(await readInPlace(agent, paths))).toEqual(digestsOf(whole));
    // Also where each is read by a reader of its own, and where one is met twice, or an older one comes back.
    const again = paths.flatMap((path, index) => [path, ...paths.slice(Math.max(0, index - 1), index), path]);
    expect(digestsOf(await readInPlace(agent, again))).toEqual(digestsOf(whole));
  },
  60_000,
);

/** Here each snapshot holds another part of the session: no line of one is in the next. */
test.each(series.filter(({ grows }) => !grows))(
  'snapshots of $agent.displayName session $session that replace each other give what was in any of them, once',
  async ({ agent, paths }) => {
    const snapshots = await Promise.all(paths.map((path) => readInPlace(agent, [path])));
    const captured = await readInPlace(agent, paths);
    // The records of each in its order, but for those of an earlier one.
    const known = new Set<string>();
    const expected = snapshots.flatMap((events) => {
      const fresh = events.filter(({ payload: { source } }) => !known.has(source.record ?? ''));
      for (const { payload } of events) if (payload.source.record !== undefined) known.add(payload.source.record);
      return fresh;
    });
    expect(captured.map(textOf)).toEqual(expected.map(textOf));
    // Of the last one nothing is missing, nothing is there twice.
    const counts = Map.groupBy(captured.map(textOf), (text) => text);
    for (const [text, events] of Map.groupBy(snapshots.at(-1)?.map(textOf) ?? [], (text) => text))
      expect(counts.get(text)).toHaveLength(events.length);
  },
  60_000,
);

/** Of a record that names no version it is the file's, which stays what the first snapshot said. */
function textOf({ eventType, payload: { source, ...fields } }: Captured): string {
  const { agentVersion: _, position: _position, ...told } = source;
  return `${eventType} ${hash('sha256', JSON.stringify([told, fields]))}`;
}

/** What a session's file gives that is each of these in turn, each read by a reader that has but the spool of the others. */
async function readInPlace(agent: Agent, paths: readonly string[]): Promise<Captured[]> {
  const folder = makeFolder();
  // Claude Code names a file after its session, Codex ends its name so.
  const below = `${agent.id === 'codex' ? 'rollout-2026-05-01T06-37-03-' : ''}9e4910ab-95a9-4a30-a85e-4677017bfaf0.jsonl`;
  const file = write(join(folder, 'root', below), '');
  let events: Captured[] = [];
  for (const path of paths) {
    writeFileSync(file, readFileSync(join(root ?? '', path)));
    const place = { agent, root: join(folder, 'root'), below, isNamed: true };
    const reading = openReading('', join(folder, 'spool.db'), { places: [place] });
    expect(await reading.read()).toBe(true);
    events = [...eventsByFile(reading.spool).values()].flat();
    reading.spool.close();
  }
  return events;
}

function readSeries(index: string): Series[] {
  const rows = index.matchAll(/^\| (\S+) \|.* snapshot (\d+)\/\d+ of \w+ (\S+); previous snapshot = (.*) \|$/gm);
  const found = [...rows].map(([, path = '', number, session = '', before]) => ({
    path,
    number: Number(number),
    session,
    differs: before === 'differs',
  }));
  return [...Map.groupBy(found, ({ session }) => session)].map(([session, snapshots]) => ({
    agent: AGENTS.find(({ id }) => snapshots[0]?.path.startsWith(`${id}/`)) as Agent,
    session,
    grows: !snapshots.some(({ differs }) => differs),
    paths: snapshots.sort((one, other) => one.number - other.number).map(({ path }) => path),
  }));
}
