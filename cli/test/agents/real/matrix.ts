import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CapturedEvent } from '../../../../transcript/vocabulary.ts';
import { explainChange, FEATURES, featuresOf, readTested, TESTED_FILE, type Tested, unreadKinds } from '../features.ts';
import type { Driver } from './driver.ts';
import { recordTypes } from './record-types.ts';
import type { StoredEvent } from './service.ts';

interface Run {
  /** The folder that the agents' packages are installed in. */
  agents: string;
  home: string;
  /** The events of sessions that were captured live, resumed and forked, as far as the agent can do that. */
  events: readonly StoredEvent[];
}

/**
 * Compares a run with what the support matrix says of the agent: a line for each feature that is gone, and for each new kind of
 * record of which no reader made an event. `UPDATE_MATRIX=1` writes what the run showed into the matrix instead.
 */
export function compareWithMatrix(driver: Driver, run: Run): string[] {
  const tested = readTested();
  const before = tested[driver.agent];
  const now = readRun(driver, run);
  if (process.env.UPDATE_MATRIX === undefined)
    return before === undefined
      ? [`${driver.agent} is not in the matrix. ${HOW}`]
      : explainChange(driver.agent, before, now);
  writeFileSync(TESTED_FILE, `${JSON.stringify({ ...tested, [driver.agent]: now }, undefined, 2)}\n`);
  return [];
}

const HOW = 'Run: UPDATE_MATRIX=1 script/test --agents && npm run generate';

function readRun(driver: Driver, { agents, home, events }: Run): Tested {
  const file = join(agents, 'node_modules', driver.package, 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  const captured = events as readonly unknown[] as readonly CapturedEvent[];
  const seen = featuresOf(captured).add('live');
  if (driver.canResume) seen.add('resume');
  if (driver.forks !== 'never') seen.add('forks');
  const features = FEATURES.filter((feature) => seen.has(feature));
  return { version, features, records: recordTypes(home, driver.stored), unread: unreadKinds(captured) };
}
