/** What may be wrong with an event. */
export const PROBLEMS = {
  missing: 'missing at the service',
  doubled: 'at the service more than once',
  different: 'different at the service',
  surplus: 'at the service, but in no transcript',
  disordered: 'out of order at the service',
} as const;
export type Problem = keyof typeof PROBLEMS;

/** One thing that is wrong, with all that tells where. */
export interface Finding {
  problem: Problem;
  agent: string;
  session: string;
  serviceSession?: string;
  sequence?: number;
  /** Absolute path, and the byte offset of the record in it. */
  file?: string;
  position?: number;
  eventType: string;
  /** Which of its parts, of an event in parts. */
  part?: string;
  /** Where in the payload, at most five. */
  leaves?: string[];
}

/** What was looked at, and what is no fault although it is not there as it was captured. */
export const COUNTS = {
  sessions: 0,
  files: 0,
  /** Records that are there, all of their events included. */
  records: 0,
  events: 0,
  /** Records that another session holds, which this one was forked from. */
  replayed: 0,
  /** Records that are captured and not sent yet, or not captured yet. */
  waiting: 0,
  /** Records of which the service refused an event. */
  setAside: 0,
  /** Records of sessions that a person has taken out of capturing. */
  leftOut: 0,
  /** Events in which other secrets were masked than would be now. */
  masked: 0,
  /** Records whose values are all there under other names, as another version of capture gave them. */
  renamed: 0,
  /** Events of what a transcript said before it was rewritten. */
  history: 0,
  /** Events whose transcript was deleted by its agent, and records that cannot be told apart without it. */
  unverifiable: 0,
  /** Transcripts that were deleted. */
  deletedFiles: 0,
  /** Transcripts that cannot be read, or are not what they should be. */
  unreadableFiles: 0,
  /** Transcripts that nothing was captured of yet. */
  newFiles: 0,
};
export type Counts = typeof COUNTS;

export type Findings = ReturnType<typeof createFindings>;

/** A person reads the first few; the rest is counted. */
const MOST = 1000;

export function createFindings() {
  const counts: Counts = { ...COUNTS };
  const problems: Record<Problem, number> = { missing: 0, doubled: 0, different: 0, surplus: 0, disordered: 0 };
  const list: Finding[] = [];
  return {
    counts,
    problems,
    list,
    count: (what: keyof Counts, by = 1): void => {
      counts[what] += by;
    },
    add(finding: Finding): void {
      problems[finding.problem]++;
      if (list.length < MOST) list.push(finding);
    },
    total: () => Object.values(problems).reduce((sum, count) => sum + count, 0),
  };
}
