/** Names that are part of the contract. This file has no schemas, so that the pages in the browser can use it. */

export const ORDERS = ['started', 'duration', 'events', 'failures', 'changes', 'tokens', 'cost', 'redactions'] as const;
export type Order = (typeof ORDERS)[number];

export const DIMENSIONS = ['agent', 'model', 'repository', 'environment', 'person'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Names the sessions that belong to no member, in figures by person and in `person:`. */
export const NOBODY = 'nobody';

/** The extensions that people add to an agent. A plugin may contain some of the others. */
export const ADD_ON_KINDS = ['mcp', 'skill', 'subagent', 'plugin'] as const;
export type AddOnKind = (typeof ADD_ON_KINDS)[number];
