import type { AddOns } from '../../contract/add-ons.ts';
import type { AddOnKind } from '../../contract/names.ts';
import type { Grouping } from '../../contract/policy.ts';
import { toDollars } from '../../transcript/entry/cost.ts';
import { type AddOnFilter, findAddOns, readCallersOf, readTokensOf } from '../store/add-ons.ts';
import { optionalTimestamp } from '../store/columns.ts';
import type { Db } from '../store/schema.ts';
import { asOrganization } from '../store/tenant.ts';
import type { Viewer } from '../store/viewer.ts';
import { keyOfAddOn } from './fold-add-ons.ts';

const MOST = { addOns: 300, callers: 10_000, shown: 5 };

type Row = { kind: AddOnKind; name: string };
const keyOf = ({ kind, name }: Row) => keyOfAddOn(kind, name);

/**
 * The add-ons of some days, from rows of sessions. The figures count every session, but an add-on is named only if a session whose
 * existence the viewer may know has it. The callers of an add-on are named only if enough people call it.
 */
export const readAddOns = (db: Db, viewer: Viewer, filter: AddOnFilter, grouping: Grouping): Promise<AddOns> =>
  // Row-level security would hide private sessions, and so the people to whom they belong.
  asOrganization(filter.organizationId, () => sumAddOns(db, viewer, filter, grouping));

async function sumAddOns(db: Db, viewer: Viewer, filter: AddOnFilter, grouping: Grouping): Promise<AddOns> {
  const found = await findAddOns(db, viewer, filter, MOST.addOns + 1);
  const shown = found.slice(0, MOST.addOns);
  const names = [...new Set(shown.map(({ name }) => name))];
  const isByName = ({ people }: (typeof shown)[number]) =>
    grouping.groupByPerson && Number(people) >= grouping.smallestGroup;
  const namesByPerson = [...new Set(shown.filter(isByName).map(({ name }) => name))];
  const agentTypes = shown.filter(({ kind }) => kind === 'subagent').map(({ name }) => name);
  const [people, agents, tokens] = await Promise.all([
    namesByPerson.length === 0 ? [] : readCallersOf(db, filter, namesByPerson, 'user_id', MOST.callers),
    names.length === 0 ? [] : readCallersOf(db, filter, names, 'agent_id', MOST.callers),
    agentTypes.length === 0 ? [] : readTokensOf(db, filter, agentTypes),
  ]);
  const [peopleOf, agentsOf] = [Map.groupBy(people, keyOf), Map.groupBy(agents, keyOf)];
  const tokensOf = new Map(tokens.map((sum) => [sum.name, sum]));
  const few = (rows: readonly { caller: string }[] = []) => rows.slice(0, MOST.shown).map(({ caller }) => caller);
  return {
    from: filter.from,
    to: filter.to,
    addOns: shown.map((row) => ({
      kind: row.kind,
      name: row.name,
      calls: Number(row.calls),
      failures: Number(row.failures),
      sessions: Number(row.sessions),
      listed: Number(row.listed),
      people: Number(row.people),
      topPeople: isByName(row) ? few(peopleOf.get(keyOf(row))) : [],
      agentIds: few(agentsOf.get(keyOf(row))),
      ...optionalTimestamp('lastUsedAt', Number(row.last_used_at) || null),
      ...(row.kind === 'subagent' && costOf(tokensOf.get(row.name))),
    })),
    isWhole: found.length <= MOST.addOns,
  };
}

/** The cost is known if each model has a price. */
function costOf(spent: Awaited<ReturnType<typeof readTokensOf>>[number] | undefined) {
  if (spent === undefined) return {};
  const { input, output, cost, unpriced } = spent;
  return {
    tokens: Number(input) + Number(output),
    ...(Number(unpriced) === 0 && { cost: toDollars(Number(cost)) }),
  };
}
