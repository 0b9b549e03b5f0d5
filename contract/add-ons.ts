import { type Static, Type } from 'typebox';
import { OneOf } from './common.ts';
import { ADD_ON_KINDS } from './names.ts';
import { UsageQuery } from './review.ts';

const count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) });

export const AddOnsQuery = Type.Object({
  ...UsageQuery.properties,
  kind: Type.Optional(OneOf(ADD_ON_KINDS)),
});

/** MCP servers, skills, types of sub-agents and plugins: the ones that were called most in some days. */
export const AddOns = Type.Object({
  from: Type.String(),
  to: Type.String(),
  addOns: Type.Array(
    Type.Object({
      kind: OneOf(ADD_ON_KINDS),
      name: Type.String({ description: 'as the agent names it; a skill has the prefix of its plugin' }),
      calls: count(),
      failures: count(),
      sessions: count('that call it'),
      listed: count('sessions whose agent offers it to its model; 0 if no agent reports that'),
      people: count('that call it, if they are known'),
      topPeople: Type.Array(Type.String(), {
        description: 'present if the policy lets people be named, and enough people call it',
      }),
      agentIds: Type.Array(Type.String()),
      lastUsedAt: Type.Optional(Type.String({ description: 'in these days; absent for one that is only listed' })),
      tokens: Type.Optional(count('of sub-agents, if their records contain them')),
      cost: Type.Optional(Type.Number({ description: 'US dollars, of sub-agents whose tokens all have a price' })),
    }),
  ),
  isWhole: Type.Boolean({ description: 'whether there are no others' }),
});
export type AddOns = Static<typeof AddOns>;
