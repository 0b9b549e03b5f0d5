/*
 * Whether a session leaves this machine. The verdict is a column of the decisions (`spool/decisions.ts`), so it applies to every
 * account, and it outlives the spool. Each verdict but `wanted` keeps the whole session here.
 *
 * | verdict  | who decides                                                | its waiting events                           | what ends it                                 |
 * | -------- | ---------------------------------------------------------- | -------------------------------------------- | -------------------------------------------- |
 * | (none)   | nobody: capture has not met the session                    | it has none                                  | the reader meets its transcript              |
 * | wanted   | a person, or no rule and no folder forbids it              | leave, except those of closed periods        | another decision, rule or folder file        |
 * | excluded | a rule, a folder's file, or a folder that cannot be judged | stay, until the spool is full                | the rule or the file allows it               |
 * | skipped  | `capture skip`                                             | are thrown away                              | `capture skip --undo`                        |
 * | deleted  | `capture delete`, or the service                           | are thrown away, and so are refused ones     | `capture skip --undo`                        |
 *
 * A fork repeats records of its parent, so a parent that stays keeps its forks here: see `verdictOfFork`. A session with a record
 * that names another session counts as a fork of it, so two sessions may be forks of each other. A person who decides about the
 * fork itself wins. The waiting events of a fork that was found later stay, until the spool is full. The closed periods of a wanted
 * session are in `periods.ts`.
 *
 * Four places ask whether something stays here. Each later place asks again, because a decision may have changed since the
 * place before it asked.
 *
 * | what               | where                | when                                              | asks for                                      |
 * | ------------------ | -------------------- | ------------------------------------------------- | --------------------------------------------- |
 * | session            | `privacy/policy.ts`  | capture meets it, or a rule or its folder changes | rules, folder, parents; makes the verdict     |
 * | transcript, record | `read/reader.ts`     | it is read                                        | the verdict, and the closed periods           |
 * | commit             | `read/commit.ts`     | its records go into the spool                     | the verdicts of the session and its parents, and whether the pauses have changed |
 * | waiting events     | `spool/batches.ts`   | they are chosen, and before each request          | the verdict                                   |
 *
 * A request has no rule of its own: it may leave while its session has waiting events.
 */

export type Verdict = 'wanted' | 'excluded' | 'skipped' | 'deleted';

/** Why a session is kept back after a person's decision about it. */
export const REASONS: { readonly [verdict in Verdict]?: string } = {
  skipped: 'skipped with `capture skip`',
  deleted: 'deleted at the service',
};

export const forkReason = (parent: string): string => `it was forked from ${parent}, which is kept back`;

/** The verdict that a fork takes over from its parent. The fork of an excluded session may be wanted again with its parent. */
export function verdictOfFork(parent: { session: string; verdict: Verdict }): {
  verdict: Verdict;
  reason: string | undefined;
} {
  if (parent.verdict === 'wanted') return { verdict: 'wanted', reason: undefined };
  return {
    verdict: parent.verdict === 'excluded' ? 'excluded' : 'skipped',
    reason: forkReason(parent.session),
  };
}
