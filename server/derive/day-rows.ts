import { hourOfWeek } from '../../contract/written-query.ts';
import { storable } from '../store/columns.ts';
import type { SessionDay } from '../store/session-rows.ts';
import { addOnsOf } from './add-on-rows.ts';
import { add, type Figures, figuresOf, NOTHING, sumOf } from './day-figures.ts';
import type { Day, Facts } from './facts.ts';
import { readKey } from './spent.ts';

/** What the session itself reports about where it belongs. */
export interface SessionOrigin {
  agentId: string;
  environmentId: string;
}

const NOWHERE = { agent_id: null, environment_id: null, repository: null };

/** The rows of a session: one for each day, and one for each model, tool, hour of the week and add-on of a day. */
export function dayRowsOf(facts: Facts, { agentId, environmentId }: SessionOrigin): SessionDay[] {
  const began = [...facts.days.keys()].sort()[0];
  const where = {
    agent_id: agentId,
    environment_id: environmentId,
    repository: facts.repository === undefined ? null : storable(facts.repository),
  };
  return [...facts.days].flatMap(([day, of]) => {
    const counts = {
      sessions: day === began ? 1 : 0,
      prompts: of.prompts,
      tool_calls: of.calls,
      failures: of.failures,
    };
    const models = modelsOf(of, facts.model, counts);
    const tokens = [...models.values()].reduce(sumOf, NOTHING);
    const row = (kind: SessionDay['kind'], name: string, figures: Figures): SessionDay => {
      return { day, kind, name, ...NOWHERE, ...figures };
    };
    return [
      { ...row('session', '', { ...tokens, ...counts }), ...where },
      ...[...models].map(([model, figures]) => row('model', model, figures)),
      ...[...toolsOf(of)].map(([tool, figures]) => row('tool', tool, figures)),
      ...[...hoursOfWeek(day, of)].map(([hour, count]) => row('hour', hour, { ...NOTHING, tool_calls: count })),
      ...addOnsOf(facts, of).map(([kind, name, figures]) => ({ ...row(kind, name, figures), agent_id: agentId })),
    ];
  });
}

/** The counts of a day belong to the model that was used last. Tokens belong to the model that used them. */
function modelsOf({ models }: Day, main: string | undefined, counts: Partial<Figures>): Map<string, Figures> {
  const found = new Map<string, Figures>();
  for (const [key, spent] of models) add(found, readKey(key).model, figuresOf(spent));
  if (main !== undefined) add(found, main, { ...NOTHING, ...counts });
  return found;
}

function toolsOf({ tools }: Day): Map<string, Figures> {
  const found = new Map<string, Figures>();
  for (const [tool, [calls, failed]] of tools) add(found, tool, { ...NOTHING, tool_calls: calls, failures: failed });
  return found;
}

/** The prompts and calls of a day by hour of the week, in UTC. */
export function hoursOfWeek(day: string, { halfHours }: Day): Map<string, number> {
  const midnight = ((new Date(day).getUTCDay() + 6) % 7) * 24;
  const hours = new Map<string, number>();
  for (const [halfHour, count] of halfHours) {
    const hour = hourOfWeek(midnight + Number(halfHour.slice(0, 2)));
    if (count > 0) hours.set(hour, (hours.get(hour) ?? 0) + count);
  }
  return hours;
}
