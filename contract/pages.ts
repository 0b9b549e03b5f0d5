import type { AddOnKind, Dimension, Order } from './names.ts';

/** The addresses of the pages in the browser, with their query strings. */

/** The views that replace the timeline of a session. */
export const SESSION_VIEWS = ['changes', 'story', 'agents'] as const;

export interface FrameSearch {
  /** Absent: live. */
  plane?: 'test' | 'all' | undefined;
}

export interface SessionsSearch {
  /** In the language of `contract/query.ts`. */
  q?: string | undefined;
  /** Absent: by start. */
  order?: Order | undefined;
  /** Absent: the largest first. */
  direction?: 'asc' | undefined;
  /** The session to compare with another one, which the person picks from the list. */
  compare?: string | undefined;
}

export interface SessionSearch {
  /** The sequence number of the current event. */
  e?: number | undefined;
  /** The search that led to the event. */
  find?: string | undefined;
  /** A range of events that the strip zooms to. */
  from?: number | undefined;
  to?: number | undefined;
  /** Kinds of rows, separated by commas; absent: all but records. */
  show?: string | undefined;
  /** Only this sub-agent. */
  lane?: string | undefined;
  /** The view that replaces the timeline. `story`: the outline, if there is no room for it beside the timeline. */
  view?: (typeof SESSION_VIEWS)[number] | undefined;
}

export interface AuditSearch {
  action?: string | undefined;
  /** Id of the person who acted. */
  actor?: string | undefined;
}

export interface HoldsSearch {
  /** The session to place a hold on. */
  session?: string | undefined;
}

export interface OverviewSearch {
  /** The number of days up to today; absent: 30, or the range of `from` and `to`. */
  days?: 7 | 90 | undefined;
  /** First and last day, UTC. */
  from?: string | undefined;
  to?: string | undefined;
  /** The dimension of the figures; absent: agent. */
  by?: Exclude<Dimension, 'agent'> | undefined;
}

export interface AddOnsSearch extends Pick<OverviewSearch, 'days' | 'from' | 'to'> {
  /** Absent: all. */
  kind?: AddOnKind | undefined;
}

export interface DeviceSearch {
  /** The user code that a terminal shows. */
  code?: string | undefined;
}

/** The two sessions to compare. */
export interface CompareSearch {
  one?: string | undefined;
  other?: string | undefined;
}

/** Every address of the dashboard. No other code builds addresses. */
export const paths = {
  home: () => '/',
  sessions: (search: SessionsSearch & FrameSearch = {}) => `/sessions${stringifySearch({ ...search })}`,
  session: (sessionId: string, sequence?: number, search: Omit<SessionSearch, 'e'> & FrameSearch = {}) =>
    `/sessions/${encodeURIComponent(sessionId)}${stringifySearch({ e: sequence, ...search })}`,
  compare: () => '/compare' as const,
  environments: () => '/environments',
  addOns: () => '/add-ons',
  agents: () => '/agents',
  members: () => '/members',
  member: (userId: string) => `/members/${encodeURIComponent(userId)}`,
  secrets: () => '/secrets',
  organization: () => '/organization',
  policy: () => '/policy',
  audit: () => '/audit',
  holds: (sessionId?: string) => `/holds${stringifySearch({ session: sessionId })}`,
  welcome: () => '/welcome',
  device: (userCode?: string) => `/device${userCode === undefined ? '' : `?code=${encodeURIComponent(userCode)}`}`,
  share: (token: string) => `/s/${token}`,
  signedIn: () => '/signed-in',
} as const;

/** The token in the address of a share; undefined for any other address. */
export const shareTokenOf = (pathname: string): string | undefined => /^\/s\/([^/]+)$/.exec(pathname)?.[1];

/** Formats a query string; undefined values are left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const text = new URLSearchParams(given).toString();
  return text === '' ? '' : `?${text}`;
}
