import { agentsCalled, dayOf, MAX_COMMAND, timeOf } from '../../contract/query.ts';
import { addressOf } from '../../contract/repository.ts';
import { type Calendar, DAY_MS } from '../../contract/time-zone.ts';
import type { Field, Filter } from '../../contract/written-query.ts';
import { VALUES_OF_CONTENT } from '../erase/kept-rows.ts';
import {
  findEnvironmentsCalled,
  findSecretsCalled,
  namesFrom,
  type SessionsWanted,
  type ValueWanted,
} from '../store/find-sessions.ts';
import { halfHourOf } from '../store/half-hours.ts';
import type { Db, SessionRow, SessionValueRow } from '../store/schema.ts';
import type { Viewer } from '../store/viewer.ts';
import { readPeople } from './people.ts';

/** The conditions that the filters of a query set. */
export type Filtered = Pick<
  SessionsWanted,
  'agentIds' | 'environmentIds' | 'secretIds' | 'userIds' | 'statuses' | 'from' | 'before' | 'failed' | 'values'
>;

/** The present time, and the time zone that days belong to. */
export interface Clock {
  /** Epoch milliseconds. */
  now: number;
  calendar: Calendar;
}

/** Turns filters into conditions. Values of one field are alternatives; the latest `after` and the earliest `before` count. */
export async function readFilters(
  db: Db,
  viewer: Viewer,
  filters: readonly Filter[],
  { now, calendar }: Clock,
): Promise<Filtered> {
  const { organizationId } = viewer;
  const { userIds } = await readPeople(db, viewer, filters);
  const of = (field: Field) => [
    ...new Set(filters.filter((filter) => filter.field === field).map(({ value }) => value)),
  ];
  const times = (field: Field) => of(field).flatMap((value) => timeOf(value, now, calendar) ?? []);
  const [agents, statuses] = [of('agent'), of('status')];
  const [machines, secrets] = [of('machine').map(withoutStar), of('secret').map(withoutStar)];
  const failed = new Set(of('failed').map((value) => value.toLowerCase() === 'yes'));
  const days = of('on').flatMap((value) => dayOf(value, now, calendar) ?? []);
  return {
    ...(agents.length > 0 && { agentIds: agents.flatMap(agentsCalled) }),
    ...(machines.length > 0 && { environmentIds: await findEnvironmentsCalled(db, organizationId, machines) }),
    ...(secrets.length > 0 && { secretIds: await findSecretsCalled(db, organizationId, secrets) }),
    ...(userIds && { userIds }),
    ...(statuses.length > 0 && { statuses: statuses.map((value) => value.toLowerCase() as SessionRow['status']) }),
    ...(times('after').length > 0 && { from: Math.max(...times('after')) }),
    ...(times('before').length > 0 && { before: Math.min(...times('before')) }),
    ...(failed.size === 1 && { failed: failed.has(true) }),
    values: [
      ...Object.entries(VALUES).flatMap(([name, { field, isOpen }]) => {
        const given = of(name as Field);
        return given.length === 0
          ? []
          : [{ field, alternatives: given.flatMap((value) => ways(field, value, isOpen)) }];
      }),
      ...(days.length > 0
        ? [{ field: 'half_hour' as const, alternatives: days.map((day) => halfHoursOf(day, calendar)) }]
        : []),
    ],
  };
}

/** The fields that match stored values; an open one also matches the beginning of a value. */
const VALUES: Partial<Record<Field, { field: SessionValueRow['field']; isOpen?: true }>> = {
  repo: { field: 'repository' },
  branch: { field: 'branch' },
  file: { field: 'file' },
  edited: { field: 'edited' },
  command: { field: 'command', isOpen: true },
  tool: { field: 'tool' },
  model: { field: 'model', isOpen: true },
  commit: { field: 'commit', isOpen: true },
  hour: { field: 'hour' },
  tests: { field: 'tests' },
  mcp: { field: 'mcp' },
  skill: { field: 'skill' },
  subagent: { field: 'subagent' },
  plugin: { field: 'plugin' },
};

/** Fields that reveal what was run or what resulted. Not everybody who may know of a session may read them. */
const OF_CONTENT: ReadonlySet<string> = new Set(VALUES_OF_CONTENT);

export const isOfContent = (field: Field): boolean => OF_CONTENT.has(field);

/** The half hours of a day, as a range of names. */
const halfHoursOf = (day: number, { startOf }: Calendar) => {
  const [name = '', end = ''] = [day, day + DAY_MS].map((start) => halfHourOf(startOf(start)).toLowerCase());
  return { name, end };
};

const withoutStar = (value: string) => value.replace(/\*+$/, '');

/** Fields with paths or addresses. A search finds them by their last name. */
const PATHS: ReadonlySet<SessionValueRow['field']> = new Set(['file', 'edited', 'repository']);

/** The stored forms of a value: the last name of a path or an address, with the names before it if they are given. */
function ways(field: SessionValueRow['field'], given: string, isOpen = false): ValueWanted['alternatives'] {
  const text = withoutStar(given);
  const value = (field === 'repository' ? (addressOf(text) ?? text) : text).toLowerCase();
  const open = isOpen || text.length < given.length;
  const named = (name: string) => (open ? namesFrom(name) : { name });
  if (field === 'command') return [named(value.slice(0, MAX_COMMAND).trim())];
  if (!PATHS.has(field)) return [named(value)];
  const path = value
    .replace(/[\\:]/g, '/')
    .replace(/\/+$/, '')
    .replace(/^.*\/\//, '');
  const names = path.split('/');
  const ending =
    names.length > 1 ? { ending: `%/${path.replace(/[!%_]/g, '!$&')}${open ? '%' : ''}`.replace('//', '/') } : {};
  const way = { ...named(names.at(-1) ?? ''), ...ending };
  if (field !== 'repository' || open || path.endsWith('.git')) return [way];
  const git = { name: `${way.name}.git`, ...(way.ending && { ending: `${way.ending}.git` }) };
  return [way, git];
}
