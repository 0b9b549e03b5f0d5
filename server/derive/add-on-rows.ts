import type { AddOnKind } from '../../contract/names.ts';
import { add, type Figures, figuresOf, NOTHING } from './day-figures.ts';
import type { Day, Facts } from './facts.ts';
import { keyOfAddOn } from './fold-add-ons.ts';

/** The add-ons of a day. The figures of a type of sub-agents include their tokens. */
export function addOnsOf(facts: Facts, of: Day): [kind: AddOnKind, name: string, figures: Figures][] {
  const found = new Map<string, Figures>();
  for (const [key, [calls, failed, lastUsedAt, isListed]] of of.addOns) {
    const use = { tool_calls: calls, failures: failed, last_used_at: lastUsedAt, is_listed: isListed };
    add(found, key, { ...NOTHING, ...use });
  }
  for (const [type, spent] of spentByTypes(facts, of)) {
    add(found, keyOfAddOn('subagent', type), { ...figuresOf(spent), last_used_at: 0 });
  }
  return [...found].map(([key, figures]) => {
    const [kind, name] = splitOnce(key);
    return [kind as AddOnKind, name, figures];
  });
}

/** Tokens of a sub-agent without a known type are left out. */
const spentByTypes = ({ laneTypes }: Facts, { lanes }: Day) =>
  [...lanes].flatMap(([key, spent]) => {
    const [lane] = splitOnce(key);
    const type = laneTypes.get(lane);
    return type === undefined ? [] : [[type, spent] as const];
  });

/** Splits at the first space: a kind contains no space, and no agent writes a lane with one. A name may contain spaces. */
function splitOnce(key: string): [string, string] {
  const at = key.indexOf(' ');
  return [key.slice(0, at), key.slice(at + 1)];
}
