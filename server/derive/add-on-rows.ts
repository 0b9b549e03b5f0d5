import { storable } from '../store/columns.ts';
import type { SessionAddOn } from '../store/session-rows.ts';
import type { SessionOrigin } from './day-rows.ts';
import type { Day, Facts } from './facts.ts';
import { keyOfAddOn } from './fold-add-ons.ts';

/** The rows of a session: one for each day and add-on, and one for each model of a type of sub-agents. */
export function addOnRowsOf(facts: Facts, { agentId }: Pick<SessionOrigin, 'agentId'>): SessionAddOn[] {
  return [...facts.days].flatMap(([day, of]) => {
    const rows = new Map<string, SessionAddOn>();
    const rowOf = (key: string, model: string): SessionAddOn => {
      const [kind, name] = splitOnce(storable(key));
      const id = `${key} ${model}`;
      const row = rows.get(id) ?? {
        ...{ day, kind: kind as SessionAddOn['kind'], name, model, agent_id: agentId, ...NOTHING },
      };
      rows.set(id, row);
      return row;
    };
    for (const [key, [calls, failed, lastUsedAt, isListed]] of of.addOns) {
      const row = rowOf(storable(key), '');
      row.calls += calls;
      row.failures += failed;
      row.last_used_at = Math.max(row.last_used_at, lastUsedAt);
      row.is_listed = Math.max(row.is_listed, isListed);
    }
    for (const [type, model, { tokens, cost, unpriced }] of spentByTypes(facts, of)) {
      const row = rowOf(keyOfAddOn('subagent', storable(type)), storable(model));
      row.input_tokens += tokens[0];
      row.cached_tokens += tokens[1];
      row.cache_write_tokens += tokens[2];
      row.output_tokens += tokens[4];
      row.cost += cost;
      row.unpriced_tokens += unpriced;
    }
    return [...rows.values()];
  });
}

const NOTHING = {
  calls: 0,
  failures: 0,
  last_used_at: 0,
  is_listed: 0,
  input_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  unpriced_tokens: 0,
  cost: 0,
};

/** Tokens of a sub-agent without a known type are left out. */
const spentByTypes = ({ laneTypes }: Facts, { lanes }: Day) =>
  [...lanes].flatMap(([key, spent]) => {
    const [lane, model] = splitOnce(key);
    const type = laneTypes.get(lane);
    return type === undefined ? [] : [[type, model, spent] as const];
  });

/**
 * Splits at the first space: a kind contains no space, and no agent writes a lane with one. A name or a model may contain
 * spaces.
 */
function splitOnce(key: string): [string, string] {
  const at = key.indexOf(' ');
  return [key.slice(0, at), key.slice(at + 1)];
}
