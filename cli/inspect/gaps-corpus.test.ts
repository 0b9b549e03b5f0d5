import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../agents/agent.ts';
import { AGENTS } from '../agents/all.ts';
import { FormCounts, formOf } from '../read/forms.ts';
import { parseRecord } from '../read/record.ts';
import { findTables, type LocalGap } from '../read/unknown.ts';
import { openSpool } from '../spool/open.ts';
import { collection, transcriptsOf } from '../test/agents/corpus.ts';
import { makeFolder } from '../test/folder.ts';
import { createContext } from '../test/program.ts';
import { findGaps } from './gaps.ts';

/** What no reader knows in the transcripts of real sessions. */
function gapsOfCorpus(): LocalGap[] {
  const spool = openSpool(':memory:');
  onTestFinished(() => spool.close());
  const forms = new FormCounts();
  const gaps: LocalGap[] = [];
  for (const agent of AGENTS) {
    const transcripts = transcriptsOf(agent);
    const databases = new Set(transcripts.map(({ file }) => file).filter((file) => file.endsWith('.db')));
    gaps.push(
      ...findTables(
        agent,
        [...databases].map((path) => ({ root: '', path })),
      ),
    );
    for (const { path, origin, lines } of transcripts) {
      for (const [position, line] of lines.entries()) {
        const events = parseRecord(agent, JSON.parse(line) as JsonObject, { origin, file: path, position }) ?? [];
        forms.add(agent.id, formOf(events), false);
      }
    }
  }
  spool.transact(() => forms.write(spool.forms, Date.now()));
  const { context } = createContext({ home: makeFolder() });
  return [...gaps, ...findGaps(context, spool, [], true)];
}

/** Each of these transcripts really contains a type or a field that no reader knows. The first four are no complete sessions. */
const TRUE_IN_COLLECTION = [
  'record claude-code 1.0.0: without a type',
  'record claude-code 1.9.0: tool_result, tool_use',
  'record codex : without a type, error, function_result, item.completed, item.started, thread.started, tool_result, turn.started',
  'record codex 0.106.0: tool_result',
  'record pi : unknown_future_entry_type',
  'field claude-code 2.1.329: apiBlockIndex, madeBy, perTurnEffort, permissionDecision.decision, permissionDecision.reasonType, permissionDecision.source, promptCacheRequested, requestRef, requestedModel, toolInputStreamMs',
  'field codex 0.169.0: metadata.client_authored, metadata.history_sequence, metadata.sampled_through_sequence, payload.root_turn_id',
];

test('transcripts of real sessions raise only the alarms that are true', () => {
  const found = gapsOfCorpus().map(
    ({ kind, agent, version = '', what = '' }) => `${kind} ${agent} ${version}: ${what}`,
  );
  expect(found.toSorted()).toEqual(collection() === undefined ? [] : TRUE_IN_COLLECTION.toSorted());
});
