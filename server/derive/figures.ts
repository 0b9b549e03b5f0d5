import type { FiguresOf } from '../store/derived-removal.ts';
import type { FigureChange } from '../store/figures.ts';
import { type Facts, readFacts, type Tokens } from './facts.ts';

/** Of the session itself, beside what its events say. */
export interface Place {
  agentId: string;
  environmentId: string;
}

type Figures = Omit<FigureChange, 'day' | 'dimension' | 'value' | 'model'>;

const NOTHING: Figures = {
  ...{ sessions: 0, prompts: 0, tool_calls: 0, failures: 0 },
  ...{ input_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
};

const ofTokens = ([input_tokens, cached_tokens, cache_write_tokens, output_tokens]: Tokens): Figures => ({
  ...NOTHING,
  ...{ input_tokens, cached_tokens, cache_write_tokens, output_tokens },
});

/**
 * What a session adds to the sums by day. Counts stand in rows without a model; tokens in rows with theirs, since only
 * together with it they have a price.
 */
export function figuresOf(facts: Facts, { agentId, environmentId }: Place): FigureChange[] {
  const values: [dimension: string, value: string | undefined][] = [
    ['total', ''],
    ['agent', agentId],
    ['environment', environmentId],
    ['repository', facts.repository],
    ['person', facts.person],
  ];
  const known = values.filter((pair): pair is [string, string] => pair[1] !== undefined);
  const began = [...facts.days.keys()].sort()[0];
  return [...facts.days].flatMap(([day, { prompts, calls: tool_calls, failures, hours, tools, models }]) => {
    const counts: Figures = { ...NOTHING, sessions: day === began ? 1 : 0, prompts, tool_calls, failures };
    const row = (dimension: string, value: string, model: string, figures: Figures): FigureChange => ({
      ...{ day, dimension, value, model },
      ...figures,
    });
    return [
      ...known.flatMap(([dimension, value]) => [
        row(dimension, value, '', counts),
        ...[...models].map(([model, tokens]) => row(dimension, value, model, ofTokens(tokens))),
      ]),
      ...(facts.model === undefined ? [] : [row('model', facts.model, '', counts)]),
      ...[...models].map(([model, tokens]) => row('model', model, model, ofTokens(tokens))),
      ...[...tools].map(([tool, [calls, failed]]) =>
        row('tool', tool, '', { ...NOTHING, tool_calls: calls, failures: failed }),
      ),
      ...[...hours].map(([hour, count]) => row('hour', hour, '', { ...NOTHING, tool_calls: count })),
    ];
  });
}

/** What is to be added to the sums where a session's share was `before` and is `after`. */
export function changeOf(before: readonly FigureChange[], after: readonly FigureChange[]): FigureChange[] {
  const changes = new Map<string, FigureChange>();
  for (const [rows, sign] of [
    [before, -1],
    [after, 1],
  ] as const) {
    for (const row of rows) {
      const key = JSON.stringify([row.dimension, row.day, row.value, row.model]);
      const change = changes.get(key) ?? { ...row, ...NOTHING };
      for (const figure of Object.keys(NOTHING) as (keyof Figures)[]) change[figure] += sign * row[figure];
      changes.set(key, change);
    }
  }
  return [...changes.values()];
}

export const figuresOfSession: FiguresOf = (facts, { agent_id: agentId, environment_id: environmentId }) =>
  figuresOf(readFacts(facts), { agentId, environmentId });
