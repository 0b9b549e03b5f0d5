import { expect, test } from 'vitest';
import { noFacts } from '../../../server/derive/facts.ts';
import { fold } from '../../../server/derive/fold.ts';
import type { CallEntry, Entry } from '../../../transcript/entry/entry.ts';
import { readEvent } from '../../../transcript/entry/read.ts';
import type { JsonObject } from '../../agents/agent.ts';
import { AGENTS } from '../../agents/all.ts';
import { collection, transcriptsOf } from './corpus.ts';

const sessions = AGENTS.flatMap((agent) =>
  transcriptsOf(agent).map(({ path, origin, lines }) => {
    const events = lines.flatMap((line, position) =>
      agent.parse(JSON.parse(line) as JsonObject, { origin, file: path, position }),
    );
    const entries = events.map(({ eventType, payload }, index) =>
      readEvent({ sequence: index + 1, eventType, createdAt: '2026-11-20T10:00:00.000Z', payload: payload as never }),
    );
    const facts = noFacts();
    fold(facts, entries, () => undefined);
    return { path: `${agent.id}/${path}`, entries, facts };
  }),
);

test.skipIf(collection() === undefined)(
  'no known session ends with red tests if a later command printed the summary of a passed run',
  () => {
    const wrong = sessions.filter(({ entries, facts }) => {
      const red = facts.milestones.findLast(({ kind }) => kind === 'tests');
      if (red?.passed !== false) return false;
      const runs = new Set(entries.flatMap((entry) => (isRun(entry) ? (entry.callId ?? []) : [])));
      return entries.some(
        (entry) =>
          entry.kind === 'result' &&
          entry.sequence > red.sequence &&
          entry.testsPassed === true &&
          entry.running === undefined &&
          runs.has(entry.callId ?? ''),
      );
    });
    expect(wrong.map(({ path }) => path)).toEqual([]);
    if (process.env.CAPTURE_TEST_TABLE) printCounts();
  },
);

const isRun = (entry: Entry): entry is CallEntry =>
  entry.kind === 'call' && entry.command !== undefined && !entry.purposes?.includes('reading');

test.skipIf(collection() === undefined)(
  'nearly all known scripts of Codex show their commands instead of the script',
  () => {
    const calls = sessions.flatMap(({ entries }) => entries.filter((entry) => entry.kind === 'call'));
    const scripts = calls.filter(({ name }) => name === 'exec');
    const asScripts = scripts.filter(({ about }) => about.includes('tools.exec_command('));
    expect(scripts.length).toBeGreaterThan(0);
    // The others insert a value into the command.
    expect(asScripts.length).toBeLessThan(scripts.length / 20);
  },
);

function printCounts(): void {
  const milestones = sessions.flatMap(({ facts }) => facts.milestones);
  const count = (kind: string) => milestones.filter((milestone) => milestone.kind === kind).length;
  const ended = (passed: boolean) => sessions.filter(({ facts }) => facts.tests?.passed === passed).length;
  console.table({
    sessions: sessions.length,
    'ended green': ended(true),
    'ended red': ended(false),
    'turns of tests': count('tests'),
    commits: count('commit'),
    'pull requests': count('pull_request'),
  });
}
