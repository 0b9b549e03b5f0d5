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
  /** The snapshots' paths, oldest first; some are missing in between. */
  paths: string[];
}

const root = collection();
const series = root === undefined ? [] : readSeries(readFileSync(join(root, 'INDEX.md'), 'utf8'));

test.skipIf(root === undefined)('the collection has series of snapshots of both kinds', () => {
  expect(series.filter(({ grows }) => grows)).toHaveLength(2);
  expect(series.filter(({ grows }) => !grows)).toHaveLength(1);
});

test.each(series.filter(({ grows }) => grows))(
  'growing snapshots of $agent.displayName session $session, read one after the other, give the events of the last one',
  async ({ agent, paths }) => {
    const last = paths.slice(-1);
    const whole = await readInPlace(agent, last);
    expect(whole.length).toBeGreaterThan(100);
    expect(digestsOf(await readInPlace(agent, paths))).toEqual(digestsOf(whole));
    // The same is true if a snapshot is read twice, or if an older one returns.
    const again = paths.flatMap((path, index) => [path, ...paths.slice(Math.max(0, index - 1), index), path]);
    expect(digestsOf(await readInPlace(agent, again))).toEqual(digestsOf(whole));
  },
  60_000,
);

/** These snapshots each have another part of the session, without common lines. */
test.each(series.filter(({ grows }) => !grows))(
  'different snapshots of $agent.displayName session $session, read one after the other, give each record once',
  async ({ agent, paths }) => {
    const snapshots = await Promise.all(paths.map((path) => readInPlace(agent, [path])));
    const captured = await readInPlace(agent, paths);
    // Expect the records of each snapshot in order, without those of earlier ones.
    const known = new Set<string>();
    const expected = snapshots.flatMap((events) => {
      const fresh = events.filter(({ payload: { source } }) => !known.has(source.record ?? ''));
      for (const { payload } of events) if (payload.source.record !== undefined) known.add(payload.source.record);
      return fresh;
    });
    expect(captured.map(textOf)).toEqual(expected.map(textOf));
    // No event of the last snapshot is missing or duplicated.
    const counts = Map.groupBy(captured.map(textOf), (text) => text);
    for (const [text, events] of Map.groupBy(snapshots.at(-1)?.map(textOf) ?? [], (text) => text))
      expect(counts.get(text)).toHaveLength(events.length);
  },
  60_000,
);

/** Ignores the agent's version: a record without one gets the file's, which stays the version of the first snapshot. */
function textOf({ eventType, payload: { source, ...fields } }: Captured): string {
  const { agentVersion: _, position: _position, ...told } = source;
  return `${eventType} ${hash('sha256', JSON.stringify([told, fields]))}`;
}

/** Replaces a session's file by each snapshot in turn, and reads each with a new reader on the same spool. @returns all events */
async function readInPlace(agent: Agent, paths: readonly string[]): Promise<Captured[]> {
  const folder = makeFolder();
  // Claude Code names a file after its session; Codex ends the file's name with it.
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
