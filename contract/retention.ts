import { type Static, Type } from 'typebox';
import { Body, OneOf, Text, Timestamp } from './common.ts';
import { PLANES, type Plane } from './secret.ts';

/* How long the content and the facts of sessions are kept. */

export const RETENTION_TARGETS = ['organization', 'plane', 'repository'] as const;
const MAX_DAYS = 36_500;
const MAX_RULES = 100;

/** The sessions to which a rule applies. */
export const RetentionTarget = Body({
  kind: OneOf(RETENTION_TARGETS),
  id: Type.Optional({
    ...Text(300),
    description:
      '`live` or `test`, or the repository. A form that is known, such as `owner/name`, is stored as `github.com/owner/name`',
  }),
});
export type RetentionTarget = Static<typeof RetentionTarget>;

const Days = (what: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: MAX_DAYS }), Type.Null()], {
      description: `days after its last change until ${what}; null: never; absent: the broader rule applies`,
    }),
  );

export const RetentionRule = Body({
  target: RetentionTarget,
  contentDays: Days('the content of a session is removed, while its facts stay'),
  factsDays: Days('a session is deleted'),
});
export type RetentionRule = Static<typeof RetentionRule>;

/**
 * At most one rule for each target. For each field, the rule for the repository takes precedence, then the rule for the plane.
 */
export const RetentionRules = Type.Array(RetentionRule, { maxItems: MAX_RULES });

/** The bounds that the operator of the service sets. */
export const RetentionBounds = Type.Object({
  defaultDays: Type.Optional(Type.Integer({ description: '`factsDays` if no rule sets it; absent: never' })),
  minDays: Type.Optional(Type.Integer({ description: 'nothing is removed earlier because of its age' })),
  maxDays: Type.Optional(Type.Integer({ description: 'only a hold keeps anything longer' })),
});
export type RetentionBounds = Static<typeof RetentionBounds>;

/** What is removed from a session because of its age, and by which rule. Without a target, the rule is the operator's. */
export const Expiry = Type.Object({
  at: Timestamp,
  days: Type.Integer({ minimum: 0 }),
  target: Type.Optional(RetentionTarget),
});
export type Expiry = Static<typeof Expiry>;

/** How many sessions a policy would affect now. */
export const RetentionPreview = Type.Object({
  rules: Type.Array(
    Type.Object({
      target: RetentionTarget,
      sessions: Type.Integer({ minimum: 0, description: 'sessions that the target has now' }),
    }),
    { description: 'in the order of the rules, with their targets in the form that is stored' },
  ),
  content: Type.Integer({ minimum: 0, description: 'sessions whose content would be removed' }),
  contentHeld: Type.Integer({ minimum: 0, description: 'sessions among them that a legal hold keeps' }),
  facts: Type.Integer({ minimum: 0, description: 'sessions that would be deleted' }),
  factsHeld: Type.Integer({ minimum: 0, description: 'sessions among them that a legal hold keeps' }),
});
export type RetentionPreview = Static<typeof RetentionPreview>;

export type RetentionField = 'contentDays' | 'factsDays';

/** A number of days, and the target of the rule that sets it. The target is absent if the operator sets it. */
export interface Term {
  days: number;
  target?: RetentionTarget;
}

/** The terms of both fields, within the bounds; undefined: never. */
export type Terms = Record<RetentionField, Term | undefined>;

/** The properties of a session that rules use. */
export interface Kept {
  plane: Plane;
  repository: string | null;
}

/** The terms that apply to a session. Its content never outlives its facts. */
export function termsOf(rules: readonly RetentionRule[], bounds: RetentionBounds, session: Kept): Terms {
  const factsDays = termOf(rules, bounds, session, 'factsDays');
  const own = termOf(rules, bounds, session, 'contentDays');
  const contentDays = own && factsDays && own.days >= factsDays.days ? factsDays : (own ?? factsDays);
  return { contentDays, factsDays };
}

/** The rules of a kind of target that set a field. */
export const inForce = (rules: readonly RetentionRule[], field: RetentionField, kind: RetentionTarget['kind']) =>
  rules.filter((rule) => rule.target.kind === kind && rule[field] !== undefined);

function termOf(
  rules: readonly RetentionRule[],
  bounds: RetentionBounds,
  { plane, repository }: Kept,
  field: RetentionField,
): Term | undefined {
  // Rules have the spelling of their author, and sessions have their own.
  const ids = { repository: repository?.toLowerCase(), plane, organization: undefined };
  for (const kind of ['repository', 'plane', 'organization'] as const) {
    const rule = inForce(rules, field, kind).find(({ target }) => target.id?.toLowerCase() === ids[kind]);
    if (rule) return bounded(bounds, field, rule);
  }
  return bounded(bounds, field, undefined);
}

/** The days that a rule sets for a field, within the current bounds; without a rule, the operator's days. */
export function bounded(
  bounds: RetentionBounds,
  field: RetentionField,
  rule: RetentionRule | undefined,
): Term | undefined {
  const { minDays = 0, maxDays, defaultDays } = bounds;
  const said = rule?.[field];
  const days = said === undefined && field === 'factsDays' ? defaultDays : (said ?? undefined);
  if (days === undefined) return field === 'factsDays' && maxDays !== undefined ? { days: maxDays } : undefined;
  const within = Math.min(Math.max(days, minDays), maxDays ?? Number.POSITIVE_INFINITY);
  return { days: within, ...(within === said && rule && { target: rule.target }) };
}

/** The first error in the rules, as a sentence; undefined if there is none. */
export function wrongWith(rules: readonly RetentionRule[], bounds: RetentionBounds): string | undefined {
  const seen = new Set<string>();
  for (const [at, rule] of rules.entries()) {
    const path = `/retention/${at}`;
    const { kind, id } = rule.target;
    const key = `${kind} ${id ?? ''}`;
    if ((id === undefined) !== (kind === 'organization'))
      return `${path}/target needs an id for a plane or a repository, and only for those.`;
    if (kind === 'plane' && !(PLANES as readonly string[]).includes(id ?? ''))
      return `${path}/target/id is not a plane.`;
    if (seen.has(key)) return `${path}/target already has a rule. Change that one.`;
    seen.add(key);
    for (const field of ['contentDays', 'factsDays'] as const) {
      const wrong = wrongDays(rule[field], bounds, field);
      if (wrong) return `${path}/${field} ${wrong}`;
    }
  }
  return undefined;
}

function wrongDays(days: number | null | undefined, { minDays, maxDays }: RetentionBounds, field: RetentionField) {
  if (days === undefined) return undefined;
  if (minDays !== undefined && days !== null && days < minDays)
    return `must be at least ${minDays}: the operator of this service has set RETENTION_MIN_DAYS.`;
  const isTooLong = days === null ? field === 'factsDays' : days > (maxDays ?? days);
  if (maxDays !== undefined && isTooLong)
    return `must be at most ${maxDays}: the operator of this service has set RETENTION_MAX_DAYS.`;
  return undefined;
}
