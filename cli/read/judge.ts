import type { Policy } from '../privacy/policy.ts';
import type { Spool } from '../spool/open.ts';
import type { Transcript } from './discover.ts';
import { readFirstKeys, type UnreadTranscript } from './identify.ts';
import type { RecordHash } from './identity.ts';

/** The facts that decide about a session when capture meets its transcript. */
export type SessionStart = Transcript & Pick<UnreadTranscript, 'origin' | 'startedAt' | 'firstKeys'>;

/**
 * Lets the policy judge sessions, parents before their forks, so that a fork inherits the decision about its parent. The caller
 * stores the judgements with `policy.store`.
 * @returns why each of them is kept back; undefined if it is captured
 */
export function judgeSessions(
  policy: Policy,
  hashRecord: RecordHash,
  all: readonly SessionStart[],
): Map<SessionStart, string | undefined> {
  const judge = ({ agent: { id }, origin, startedAt, firstKeys }: SessionStart) => {
    const firstRecords = () => firstKeys().map((key) => hashRecord(`${id} ${key}`));
    return policy.objection(id, origin, { startedAt, firstRecords });
  };
  return new Map(all.toSorted(bySession).map((one) => [one, judge(one)]));
}

/**
 * The session of a transcript that has nothing new, if the decision about the session is lost. Capture meets it again before its
 * forks, so that they inherit the person's decision.
 */
export function findUnjudged(spool: Spool, policy: Pick<Policy, 'find'>, transcript: Transcript): SessionStart[] {
  const { agent, root, path } = transcript;
  const row = spool.files.find(agent.id, root, path);
  if (row === undefined || row.origin.subagent !== undefined) return [];
  const known = policy.find(agent.id, row.origin.session);
  if (known === undefined || known.startedAt !== undefined) return [];
  const { origin, startedAt } = row;
  return [{ ...transcript, origin, startedAt, firstKeys: () => readFirstKeys(transcript) }];
}

/** Sessions come before their forks, and all of them before sub-agents. */
const bySession = (one: SessionStart, other: SessionStart) => compareSubagents(one, other) || byAge([one], [other]);

/** The session's own file comes before the files of its sub-agents. */
export const byRank = (one: SessionStart, other: SessionStart): number =>
  compareSubagents(one, other) || compare(one.path, other.path);

const compareSubagents = (one: SessionStart, other: SessionStart) =>
  Number(one.origin.subagent !== undefined) - Number(other.origin.subagent !== undefined);

/** A fork begins with its parent's records, so both begin at the same time. Then the older file is the parent. */
export function byAge([one]: readonly SessionStart[], [other]: readonly SessionStart[]): number {
  if (one === undefined || other === undefined) return 0;
  const isChild = ({ origin }: SessionStart, parent: SessionStart) => origin.forkedFrom === parent.origin.session;
  return (
    one.startedAt - other.startedAt ||
    Number(isChild(one, other)) - Number(isChild(other, one)) ||
    one.bornAt - other.bornAt ||
    compare(one.path, other.path)
  );
}

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
