import type { AddOnKind } from '../../contract/names.ts';
import { type AddOn, pluginOf } from '../../transcript/entry/add-on.ts';
import type { SubagentEntry } from '../../transcript/entry/entry.ts';
import { type AddOnUse, type Day, type Facts, keep } from './facts.ts';
import { addSpent, type addUsage, noSpent } from './spent.ts';

/** The most of a day that one session can make others keep. */
const MOST = { addOns: 300, lanes: 200, laneTypes: 500 };

export const keyOfAddOn = (kind: AddOnKind, name: string): string => `${kind} ${name}`;

/** The counts of the add-on, and of its plugin. */
function usesOf(facts: Facts, day: Day | undefined, addOn: AddOn): AddOnUse[] {
  if (!day) return [];
  return keysOf(addOn)
    .map((key) => keep(facts, day.addOns, key, MOST.addOns, (): AddOnUse => [0, 0, 0, 0]))
    .filter((use) => use !== undefined);
}

function keysOf(addOn: AddOn): string[] {
  const plugin = pluginOf(addOn);
  const key = keyOfAddOn(addOn.kind, addOn.name);
  return plugin === undefined ? [key] : [key, keyOfAddOn('plugin', plugin)];
}

export function noteUse(facts: Facts, day: Day | undefined, addOn: AddOn, time: number): void {
  for (const use of usesOf(facts, day, addOn)) {
    use[0]++;
    use[2] = Math.max(use[2], time);
  }
}

export function noteFailure(day: Day | undefined, addOn: AddOn): void {
  for (const key of keysOf(addOn)) {
    const use = day?.addOns.get(key);
    if (use) use[1]++;
  }
}

export function noteListed(facts: Facts, day: Day | undefined, listed: readonly AddOn[]): void {
  for (const addOn of listed) for (const use of usesOf(facts, day, addOn)) use[3] = 1;
}

/** The type of a sub-agent is the one that its agent reports, or the one in the call that started it. */
export function noteLaneType(facts: Facts, { subagent, agentType, callId }: SubagentEntry): void {
  const started = callId === undefined ? undefined : facts.openCalls.get(callId)?.addOn;
  const type = agentType ?? (started?.kind === 'subagent' ? started.name : undefined);
  if (subagent !== '' && type) keep(facts, facts.laneTypes, subagent, MOST.laneTypes, () => type);
}

/** Replaces what a response of a sub-agent has added before. */
export function noteLaneSpent(
  facts: Facts,
  lane: string,
  { sums, model, before, after }: NonNullable<ReturnType<typeof addUsage>>,
): void {
  const spent = sums && keep(facts, sums.lanes, `${lane} ${model}`, MOST.lanes, noSpent);
  if (!spent) return;
  addSpent(spent, before, -1);
  addSpent(spent, after);
}
