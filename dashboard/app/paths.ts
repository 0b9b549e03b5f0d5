import { type FrameSearch, type SessionSearch, type SessionsSearch, stringifySearch } from './search.ts';

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
