import { type Static, Type } from 'typebox';
import { Id, OneOf, Timestamp } from './common.ts';
import { DIMENSIONS, ORDERS } from './names.ts';
import { Expiry } from './retention.ts';
import { Session } from './session.ts';

/*
 * Data derived from stored events, for people who review sessions. It may lag behind by moments, and can be derived again at
 * any time. Money is in US dollars.
 */

const count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) });
/** OpenAPI has no tuples. */
const Pair = Type.Unsafe<[number, number]>(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }));
const cost = Type.Optional(Type.Number({ description: 'US dollars; absent if no price is known for any of it' }));

/** The derived data of a session in lists. */
export const SessionSummary = Type.Object({
  sessionId: Id('ses'),
  /** The last title that a person or the agent gave the session while it ran. */
  title: Type.Optional(Type.String()),
  firstPrompt: Type.Optional(
    Type.String({ description: 'first meaningful line of the first prompt, at most 300 characters' }),
  ),
  firstCommand: Type.Optional(Type.String({ description: 'the first command, if the session has no prompt' })),
  repository: Type.Optional(Type.String({ description: 'its address if known, otherwise the folder' })),
  gitBranch: Type.Optional(Type.String()),
  userId: Type.Optional({ ...Id('usr'), description: 'the person of the session; absent: nobody' }),
  account: Type.Optional(
    Type.String({ description: 'name of the account on the machine, if the folder of the session contains it' }),
  ),
  model: Type.Optional(Type.String({ description: 'the model that was used last' })),
  /** The secret that opened it; absent in old sessions. */
  secretId: Type.Optional(Id('sec')),
  continues: Type.Optional(Id('ses')),
  forkedFrom: Type.Optional(Id('ses')),
  prompts: count(),
  toolCalls: count(),
  failures: count('tool results that failed, and errors'),
  redactions: count(),
  filesChanged: count(),
  linesAdded: count(),
  linesRemoved: count(),
  inputTokens: count('cached ones included'),
  cachedTokens: count('read from a cache'),
  outputTokens: count(),
  cost,
  firstEventAt: Type.Optional(Timestamp),
  lastEventAt: Type.Optional(Timestamp),
  /** 48 equal slices of its duration, each as `work,failures`, for a small chart. */
  shape: Type.Optional(Type.Array(Pair)),
  summarizedThrough: count('sequence of the last event counted'),
});
export type SessionSummary = Static<typeof SessionSummary>;

export const MILESTONES = ['commit', 'pull_request', 'tests', 'compaction', 'wait'] as const;

/** An event by which people remember a session. */
export const Milestone = Type.Object({
  sequence: Type.Integer(),
  time: Type.Optional(Timestamp),
  kind: OneOf(MILESTONES),
  /** Subject of a commit, title of a pull request, command of a test run. */
  text: Type.String(),
  hash: Type.Optional(Type.String({ description: 'of a commit' })),
  url: Type.Optional(Type.String({ description: 'of a pull request' })),
  passed: Type.Optional(Type.Boolean({ description: 'of a test run' })),
  durationMs: Type.Optional(Type.Number({ description: 'of a wait for the person' })),
});
export type Milestone = Static<typeof Milestone>;

/** Everything that is known about a session without reading its events. */
export const SessionFacts = Type.Object({
  summary: SessionSummary,
  holdId: Type.Optional(Type.String({ description: 'a legal hold that keeps the session from being deleted' })),
  contentRemoved: Type.Optional({ ...Expiry, description: 'when the content was removed, and by which rule' }),
  contentKeptUntil: Type.Optional({ ...Expiry, description: 'when the content is removed, if nothing is added' }),
  keptUntil: Type.Optional({ ...Expiry, description: 'when the session is deleted, if nothing is added' }),
  folder: Type.Optional(Type.String()),
  branches: Type.Array(Type.String()),
  tools: Type.Array(Type.Object({ name: Type.String(), calls: count(), failed: count() })),
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      edits: count(),
      added: count(),
      removed: count(),
      sequence: count('the first'),
    }),
  ),
  commands: Type.Array(
    Type.Object({
      command: Type.String({ description: 'one line' }),
      runs: count(),
      failed: count(),
      exitCode: Type.Optional(Type.Integer({ description: 'of the last run' })),
      sequence: count('of the last run'),
    }),
  ),
  usage: Type.Array(
    Type.Object({
      day: Type.String({ description: 'YYYY-MM-DD, UTC' }),
      model: Type.String(),
      terms: Type.String({
        description:
          'what else decides the price, joined by +: `fast`, `priority`, `flex`, `batch`, `in:us`; empty for the normal terms',
      }),
      above: Type.Optional(
        Type.Integer({
          description: 'the price of prompts with more tokens than this; absent: of the shortest prompts',
        }),
      ),
      upTo: Type.Optional(
        Type.Integer({
          description:
            'the most tokens of a prompt and its answer; more are the sum of several responses, which `above` does not fit',
        }),
      ),
      unknownTerms: Type.Optional(
        Type.String({ description: 'those of the terms whose price is unknown, so that the normal price is taken' }),
      ),
      inputTokens: count('cached ones included'),
      cachedTokens: count(),
      cacheWriteTokens: count(),
      cacheWrite1hTokens: count('of the cacheWriteTokens, those kept for one hour'),
      outputTokens: count(),
      webSearches: count('searches that the vendor ran'),
      cost,
      price: Type.Optional(
        Type.Object(
          {
            input: Type.Number(),
            cached: Type.Number(),
            cacheWrite: Type.Number({ description: 'kept for five minutes' }),
            cacheWrite1h: Type.Number({ description: 'kept for one hour' }),
            output: Type.Number(),
            webSearch: Type.Optional(Type.Number({ description: 'for a thousand searches' })),
          },
          { description: 'US dollars for a million tokens, on that day and under these terms' },
        ),
      ),
    }),
  ),
  pricesOf: Type.String({ description: 'day of the last check of the prices, YYYY-MM-DD' }),
  tests: Type.Optional(
    Type.Object({ passed: Type.Boolean(), sequence: count('of the run since which they pass or fail') }),
  ),
  commits: Type.Optional(Type.Object({ count: count(), sequence: count('of the last one') })),
  milestones: Type.Array(Milestone, { description: 'the first, at most 500' }),
  turns: Type.Array(
    Type.Object({
      sequence: count('of its prompt'),
      prompt: Type.String({ description: 'first meaningful line, at most 200 characters' }),
      calls: count('until the next prompt, without those of sub-agents'),
      failures: count('without those of sub-agents'),
    }),
    { description: 'the first turns that begin with a prompt of the person, at most 200' },
  ),
  contextWindow: Type.Optional(Type.Integer({ description: "the size of the model's context in tokens, if known" })),
  usualWindow: Type.Optional(
    Type.Integer({
      description:
        'the size of the context unless the session requested more; a session that used more did request more',
    }),
  ),
  related: Type.Array(
    Type.Object({
      relation: OneOf(['continues', 'continuedBy', 'forkedFrom', 'forkedBy']),
      session: Session,
    }),
  ),
});
export type SessionFacts = Static<typeof SessionFacts>;

/**
 * A line of a session's index: the entries of some consecutive events (`transcript/entry/entry.ts`), without their long texts. A
 * payload that was sent in parts is one entry that spans several sequences.
 */
export const IndexLine = Type.Object({
  first: Type.Integer(),
  last: Type.Integer(),
  entries: Type.Array(Type.Unsafe<object>(Type.Object({}, { additionalProperties: true }))),
});
export type IndexLine = Static<typeof IndexLine>;

/**
 * Orders pages of sessions by start. Within a page, the best matches come first: sessions with all words in one event, and
 * messages of people and agents before the output of tools and before context.
 */
export const BY_FIT = 'fit';

/** `q` is in the language of `contract/query.ts`. */
export const SearchQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 1000 })),
  secretEnvironment: Type.Optional(OneOf(['live', 'test', 'all'])),
  order: Type.Optional(OneOf([...ORDERS, BY_FIT])),
  direction: Type.Optional(OneOf(['desc', 'asc'])),
  limit: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,2}$', description: 'default 50, at most 100' })),
  cursor: Type.Optional(Type.String()),
  zone: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'IANA time zone of the days in `q`, such as Pacific/Auckland; default UTC',
    }),
  ),
});

/** An event with matching terms. */
export const Hit = Type.Object({
  sequence: Type.Integer(),
  time: Type.Optional(Timestamp),
  eventType: Type.String(),
  /** The text around the first match, in one line. */
  text: Type.String(),
  /** Start and end of each match in `text`, in UTF-16 code units. */
  marks: Type.Array(Pair),
});
export type Hit = Static<typeof Hit>;

/** How many of the sessions that pass the filters have been searched for the words. */
export const SearchProgress = Type.Object({ searched: Type.Integer(), sessions: Type.Integer() });
export type SearchProgress = Static<typeof SearchProgress>;

export const SearchPage = Type.Object({
  sessions: Type.Array(
    Type.Object({
      session: Session,
      summary: SessionSummary,
      hits: Type.Array(Hit, { description: 'at most 3; empty if the search had no words' }),
    }),
  ),
  nextCursor: Type.Union([Type.String(), Type.Null()]),
  /** Given if more sessions must be searched before the page is full; absent if there are more than 10,000. */
  progress: Type.Optional(SearchProgress),
  problems: Type.Optional(
    Type.Array(Type.String(), {
      description: 'why filters by person find nothing: no member, or several, are called so',
    }),
  ),
  /** Set if some sessions are not yet derived and may be missing. */
  catchingUp: Type.Optional(Type.Boolean()),
});
export type SearchPage = Static<typeof SearchPage>;

export const FindQuery = Type.Object({
  q: Type.String({ minLength: 1, maxLength: 1000 }),
  from: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$', description: 'first sequence; default 1' })),
});

/** Events found in a session; `next` is the first sequence of the next request, null at the end. */
export const FoundEvents = Type.Object({
  hits: Type.Array(Hit),
  next: Type.Union([Type.Integer(), Type.Null()]),
});
export type FoundEvents = Static<typeof FoundEvents>;

const figures = {
  sessions: count('that started on these days'),
  prompts: count(),
  toolCalls: count(),
  failures: count(),
  inputTokens: count('cached ones included'),
  cachedTokens: count(),
  outputTokens: count(),
  cost,
  unpricedTokens: Type.Optional(count('of models without a known price; absent: none')),
};

export const Figures = Type.Object(figures);
export type Figures = Static<typeof Figures>;

export const DayFigures = Type.Object({ day: Type.String({ description: 'YYYY-MM-DD, UTC' }), ...figures });
export type DayFigures = Static<typeof DayFigures>;

export const UsageQuery = Type.Object({
  from: Type.Optional(
    Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'first day, UTC; default 30 days ago' }),
  ),
  to: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'last day, UTC; default today' })),
  secretEnvironment: Type.Optional(OneOf(['live', 'test', 'all'])),
});

export type UsageQuery = Static<typeof UsageQuery>;

/** Figures over all sessions of some days. */
export const Usage = Type.Object({
  from: Type.String(),
  to: Type.String(),
  total: Figures,
  days: Type.Array(DayFigures),
  /**
   * The largest values of each dimension. The value "" sums up the rest. People are a dimension only if the policy allows it,
   * with their user ids as values, and "nobody" for sessions without a person. If there are fewer people than its smallest
   * group, all sessions are in the rest.
   */
  groups: Type.Array(
    Type.Object({
      dimension: OneOf(DIMENSIONS),
      value: Type.String(),
      ...figures,
      days: Type.Array(DayFigures, { description: 'by week, starting on Monday, for a period of more than 120 days' }),
    }),
  ),
  tools: Type.Array(Type.Object({ name: Type.String(), calls: count(), failed: count() })),
  /** Prompts and calls by hour of the week, Monday 00:00 UTC first: 168 numbers. */
  hours: Type.Array(count()),
  /** Unusual sessions with the reason. `figure` is in the unit of the reason. */
  attention: Type.Array(
    Type.Object({
      reason: OneOf(['failures', 'longest', 'expensive', 'interrupted']),
      figure: Type.Number(),
      session: Session,
      summary: SessionSummary,
    }),
  ),
  running: Type.Array(Type.Object({ session: Session, summary: SessionSummary })),
  /** The lag of each machine's capture at its last event, in ms. */
  machines: Type.Array(Type.Object({ environmentId: Id('env'), lagMs: Type.Optional(Type.Number()) })),
  pricesOf: Type.String({ description: 'day of the last check of the prices, YYYY-MM-DD' }),
  unpricedTokens: count('of models without a known price'),
  /** Set if some sessions are not yet derived and may be missing from the figures. */
  catchingUp: Type.Optional(Type.Boolean()),
});
export type Usage = Static<typeof Usage>;
