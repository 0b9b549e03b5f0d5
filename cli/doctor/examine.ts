import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { checkAbsent, checkAgent } from './checks/agents.ts';
import { checkDaemon, checkPause, checkStateFolders, checkSupervisor } from './checks/daemon.ts';
import { checkClock, checkHeld, checkSecret, checkService, checkSignIn, checkVersion } from './checks/service.ts';
import { checkDisk, checkQuarantined, checkRedaction, checkRefused, checkSpool } from './checks/spool.ts';
import { checkLeftOut, checkPreferences, checkReadable, checkReading, checkWatching } from './checks/transcripts.ts';
import { type DoctorOptions, type Facts, gatherFacts } from './facts.ts';
import { type Finding, failed } from './finding.ts';

type Answer = Finding | Finding[];
type Check = readonly [id: string, look: (facts: Facts) => Answer | Promise<Answer>];

/** What is looked at, in the order in which it is shown. The ids are for programs, and stay. */
const AREAS: { readonly [area: string]: readonly Check[] } = {
  Service: [
    ['sign-in', checkSignIn],
    ['service', checkService],
    ['secret', checkSecret],
    ['held', checkHeld],
    ['clock', checkClock],
    ['version', checkVersion],
  ],
  Daemon: [
    ['daemon', checkDaemon],
    ['supervisor', checkSupervisor],
    ['pause', checkPause],
    ['state-folders', checkStateFolders],
  ],
  Agents: [
    ['agents', (facts) => facts.hooks.filter(({ found }) => found).flatMap((state) => checkAgent(facts, state))],
    ['absent', checkAbsent],
  ],
  Transcripts: [
    ['reading', checkReading],
    ['readable', checkReadable],
    ['watching', checkWatching],
    ['preferences', checkPreferences],
    ['left-out', checkLeftOut],
  ],
  Spool: [
    ['spool', checkSpool],
    ['refused', checkRefused],
    ['quarantined', checkQuarantined],
    ['disk', checkDisk],
    ['redaction', checkRedaction],
  ],
};

/** A finding, and which check of which area found it. */
export interface Examined extends Finding {
  area: string;
  check: string;
}

/** Runs every check. One that fails itself says so, and the others go on. */
export async function examine(context: Context, options: DoctorOptions = {}): Promise<Examined[]> {
  const facts = await gatherFacts(context, options);
  const examined: Examined[] = [];
  try {
    for (const [area, checks] of Object.entries(AREAS)) {
      for (const [check, look] of checks) {
        for (const finding of await attempt(look, facts)) examined.push({ area, check, ...finding });
      }
    }
  } finally {
    facts.spool?.close();
  }
  return examined;
}

async function attempt(look: Check[1], facts: Facts): Promise<Finding[]> {
  try {
    return [await look(facts)].flat();
  } catch (error) {
    return [
      failed(`This could not be examined: ${describe(error)}`, 'capture doctor --json   # for a report of a bug'),
    ];
  }
}
