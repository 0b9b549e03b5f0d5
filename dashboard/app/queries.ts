import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryKey,
  queryOptions,
  type UseQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Installation } from '../../contract/agent.ts';
import type { Client } from '../../contract/client.ts';
import type { Environment } from '../../contract/environment.ts';
import type { MaskReceipt } from '../../contract/mask.ts';
import type { AddOnKind } from '../../contract/names.ts';
import type { FrameSearch, SessionsSearch } from '../../contract/pages.ts';
import type { RetentionRule } from '../../contract/retention.ts';
import type { SearchPage, SessionFacts, SessionSummary } from '../../contract/review.ts';
import type { Secret } from '../../contract/secret.ts';
import { hrefOf } from '../kit/base-path.ts';
import { useApp } from './app.ts';

/** The search, the order and the plane of a list of sessions. */
export type SessionSearch = FrameSearch & SessionsSearch;

/** The keys of all cached queries. */
export const keys = {
  person: ['person'],
  sessions: (search: SessionSearch) => ['sessions', search],
  allSessions: ['sessions'],
  session: (sessionId: string) => ['session', sessionId],
  summaries: ['summaries'],
  summary: (sessionId: string) => ['summaries', sessionId],
  facts: (sessionId: string) => ['facts', sessionId],
  sessionViews: (sessionId: string) => ['session-views', sessionId],
  sessionSenders: (sessionId: string) => ['session-senders', sessionId],
  shares: (sessionId: string) => ['shares', sessionId],
  masks: (sessionId: string) => ['masks', sessionId],
  allFacts: ['facts'],
  usage: (query: Record<string, string>) => ['usage', query],
  addOns: (query: Record<string, string>) => ['add-ons', query],
  allUsage: ['usage'],
  event: (sessionId: string, sequence: number) => ['event', sessionId, sequence],
  events: (sessionId: string) => ['event', sessionId],
  environments: ['environments'],
  machineHealth: ['environments', 'health'],
  catalog: ['catalog'],
  installations: ['installations'],
  members: ['members'],
  invitations: ['members', 'invitations'],
  secrets: ['secrets'],
  policy: ['policy'],
  repositories: ['repositories'],
  directory: ['directory'],
  audit: ['audit'],
  holds: ['holds'],
  storage: ['storage'],
  views: ['views'],
  device: (userCode: string) => ['device', userCode],
  scriptSums: ['script-sums'],
} as const;

const PAGE = '100';

/** About as many sessions as a tall screen shows. */
export const SCREENFUL = 50;

/** A browser on a machine without a valid time zone names this one, and counts in UTC. */
const UNKNOWN_ZONE = 'Etc/Unknown';

/** The reader's time zone, to which the days of a query belong. */
const zoneOf = () => {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone === UNKNOWN_ZONE ? 'UTC' : timeZone;
};

/** The query parameters for a page of a list. */
export const searchQuery = ({ q, plane, order, direction }: SessionSearch, cursor?: string) => ({
  secretEnvironment: plane ?? ('live' as const),
  limit: PAGE,
  ...(q && { q, zone: zoneOf() }),
  ...((order || q) && { order: order ?? ('fit' as const) }),
  ...(direction && { direction }),
  ...(cursor && { cursor }),
});

/** An answer of the service, read under a key of the cache. */
export const useResource = <Answer>(
  queryKey: QueryKey,
  read: (api: Client, signal: AbortSignal) => Promise<Answer>,
  options: Omit<UseQueryOptions<Answer>, 'queryKey' | 'queryFn'> = {},
) => {
  const { api } = useApp();
  return useQuery({ queryKey, queryFn: ({ signal }) => read(api, signal), ...options });
};

// Queries that a page begins with are separate functions, so that routes can start them while the page's code loads.

export const personQuery = (api: Client) =>
  queryOptions({
    queryKey: keys.person,
    queryFn: async ({ signal }) => (await api.getPerson({ signal })).body,
    staleTime: 300_000,
    // Until the person is known, no other part of the page notices that the service is back.
    refetchInterval: ({ state }) => (state.status === 'error' && !state.data ? PERSON_AGAIN_MS : false),
  });

const PERSON_AGAIN_MS = 5_000;

export const usePersonQuery = () => useQuery(personQuery(useApp().api));

export type SessionRow = SearchPage['sessions'][number];
export type SessionPages = InfiniteData<SearchPage>;

/** While sessions are not derived yet, the answer may miss some. The query is repeated until it is complete. */
const CATCHING_UP_MS = 3_000;

export const sessionsQuery = (api: Client, search: SessionSearch) =>
  infiniteQueryOptions({
    queryKey: keys.sessions(search),
    queryFn: async ({ pageParam, signal }) =>
      (await api.searchSessions({ query: searchQuery(search, pageParam), signal })).body,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    // The previous results stay on the page during the next search.
    placeholderData: (previous) => previous,
    // Live changes keep the list fresh; reading all pages again after a glance at another window would be waste.
    refetchOnWindowFocus: false,
    refetchInterval: ({ state }) =>
      state.data?.pages.length === 1 && state.data.pages[0]?.catchingUp ? CATCHING_UP_MS : false,
  });

/**
 * The pages of a list. A page of a search for words may be short although more sessions follow; then the next pages are read at
 * once, until there are `wanted` sessions.
 */
export function useSessions(search: SessionSearch, wanted = SCREENFUL) {
  const sessions = useInfiniteQuery(sessionsQuery(useApp().api, search));
  const { data, hasNextPage, isFetching, isError, isPlaceholderData, fetchNextPage } = sessions;
  const found = data?.pages.reduce((sum, page) => sum + page.sessions.length, 0) ?? 0;
  const goesOn = hasNextPage && found < wanted && !isFetching && !isError && !isPlaceholderData;
  useEffect(() => {
    // A list that shows its last row may ask for the page at the same time.
    if (goesOn) void fetchNextPage({ cancelRefetch: false });
  }, [goesOn, fetchNextPage]);
  return sessions;
}

/**
 * The facts of a session. They lag behind its events, so they are read again until they cover all events.
 * @param eventCount undefined until it is known; then they are read
 */
export const useFacts = (sessionId: string, eventCount: number | undefined) =>
  useResource(
    [...keys.facts(sessionId), Math.floor(Math.log2((eventCount ?? 0) + 1) * 4)],
    async (api, signal) => (await api.getSessionFacts({ sessionId, signal })).body,
    {
      enabled: eventCount !== undefined,
      placeholderData: (previous) => previous,
      ...until<SessionFacts>(({ summary }) => summary.summarizedThrough >= (eventCount ?? 0)),
    },
  );

/** The query parameters for figures of all sessions in a period. */
export const usageQuery = (from: string, to: string, plane: FrameSearch['plane']) => ({
  from,
  to,
  secretEnvironment: plane ?? ('live' as const),
});

export const useUsage = (query: ReturnType<typeof usageQuery>, isWanted = true) =>
  useResource(keys.usage(query), async (api, signal) => (await api.getUsage({ query, signal })).body, {
    enabled: isWanted,
    placeholderData: (previous) => previous,
    staleTime: 60_000,
    refetchInterval: ({ state }) => (state.data?.catchingUp ? CATCHING_UP_MS : false),
  });

export const useAddOns = (query: ReturnType<typeof usageQuery> & { kind?: AddOnKind }) =>
  useResource(keys.addOns(query), async (api, signal) => (await api.listAddOns({ query, signal })).body, {
    placeholderData: (previous) => previous,
    staleTime: 60_000,
  });

export const sessionQuery = (api: Client, sessionId: string) =>
  queryOptions({
    queryKey: keys.session(sessionId),
    queryFn: async ({ signal }) => (await api.getSession({ sessionId, signal })).body.session,
  });

export const useSession = (sessionId: string, isWanted = true) =>
  useQuery({ ...sessionQuery(useApp().api, sessionId), enabled: isWanted });

/** The summary of a session, read again until it covers all events. Null: the session is gone. */
export const useSummary = (sessionId: string, eventCount: number) =>
  useResource(
    keys.summary(sessionId),
    async (api, signal) => (await readSummaries(api, [sessionId], signal)).get(sessionId) ?? null,
    {
      ...until<SessionSummary | null>((summary) => !summary || summary.summarizedThrough >= eventCount),
    },
  );

const MAX_SUMMARIES = 100;

/** @returns summaries by session, without sessions that are gone */
export async function readSummaries(api: Client, sessionIds: readonly string[], signal?: AbortSignal) {
  const found = new Map<string, SessionSummary>();
  for (let start = 0; start < sessionIds.length; start += MAX_SUMMARIES) {
    const query = { sessionIds: sessionIds.slice(start, start + MAX_SUMMARIES).join(',') };
    const { summaries } = (await api.listSessionSummaries({ query, ...(signal && { signal }) })).body;
    for (const summary of summaries) found.set(summary.sessionId, summary);
  }
  return found;
}

interface Polling<Data> {
  refetchInterval?: (query: { state: { data: Data | undefined } }) => number | false;
}

/** Repeats a query every two seconds until its data is as wanted. */
export const until = <Data>(isThere: (data: Data) => boolean): Polling<Data> => ({
  refetchInterval: ({ state }) => (state.data !== undefined && isThere(state.data) ? false : 2_000),
});

export const useEnvironments = (polling: Polling<Environment[]> = {}) =>
  useResource(
    keys.environments,
    async (api, signal) => (await api.listEnvironments({ signal })).body.environments,
    polling,
  );

/** The state of each machine's capture, by the machine's id. */
export const useMachineHealth = () =>
  useResource(keys.machineHealth, async (api, signal) => {
    const { machines } = (await api.listMachineHealth({ signal })).body;
    return new Map(machines.map((each) => [each.environmentId, each]));
  });

export const useCatalog = () =>
  useResource(keys.catalog, async (api, signal) => (await api.listAgents({ signal })).body.agents, {
    staleTime: 3_600_000,
  });

export const useInstallations = (polling: Polling<Installation[]> = {}) =>
  useResource(
    keys.installations,
    async (api, signal) => (await api.listInstallations({ signal })).body.installations,
    polling,
  );

export const useMembers = () =>
  useResource(keys.members, async (api, signal) => (await api.listMembers({ signal })).body.users);

/** The secrets of other machines that sent events of a session, for those who may read it. */
export const useSessionSenders = (sessionId: string) =>
  useResource(
    keys.sessionSenders(sessionId),
    async (api, signal) => (await api.listSessionSenders({ sessionId, signal })).body.senders,
  );

/** The people who looked at a session. Only its person may ask. */
export const useSessionViews = (sessionId: string) =>
  useResource(
    keys.sessionViews(sessionId),
    async (api, signal) => (await api.listSessionViews({ sessionId, signal })).body,
  );

/** The shares of a session. */
export const useShares = (sessionId: string) =>
  useResource(keys.shares(sessionId), async (api, signal) => (await api.listShares({ sessionId, signal })).body.shares);

/** The masks of a session, read again until all of them have finished. */
export const useMasks = (sessionId: string) =>
  useResource(keys.masks(sessionId), async (api, signal) => (await api.listMasks({ sessionId, signal })).body.masks, {
    ...until<MaskReceipt[]>((masks) => masks.every(({ finishedAt }) => finishedAt !== undefined)),
  });

/** The policy of the organization. */
export const usePolicy = () => useResource(keys.policy, async (api, signal) => (await api.getPolicy({ signal })).body);

/** The repositories of all sessions. */
export const useRepositories = () =>
  useResource(keys.repositories, async (api, signal) => (await api.listRepositories({ signal })).body.repositories);

/** The number of sessions that these retention rules would remove now. */
export const useRetentionPreview = (retention: RetentionRule[], isWanted = true) =>
  useResource(
    [...keys.policy, 'preview', retention],
    async (api, signal) => (await api.previewRetention({ body: { retention }, signal })).body,
    {
      enabled: isWanted,
      gcTime: 0,
    },
  );

/** The address and the token with which a directory provisions members. */
export const useDirectory = () =>
  useResource(keys.directory, async (api, signal) => (await api.getDirectory({ signal })).body);

/** The open invitations, by the id of the invited person. */
export const useInvitations = () =>
  useResource(keys.invitations, async (api, signal) => {
    const { invitations } = (await api.listInvitations({ signal })).body;
    return new Map(invitations.map((each) => [each.userId, each]));
  });

export const useSecrets = (polling: Polling<Secret[]> = {}) =>
  useResource(keys.secrets, async (api, signal) => (await api.listSecrets({ signal })).body.secrets, polling);

export const useStorage = () =>
  useResource(keys.storage, async (api, signal) => (await api.getStorage({ signal })).body);

export const useHolds = () =>
  useResource(keys.holds, async (api, signal) => (await api.listHolds({ signal })).body.holds);

/** A mutation. Afterwards, the queries in `touches` are read again. */
export function useChange<Input, Output>(
  change: (api: Client, input: Input) => Promise<Output>,
  touches: readonly (readonly unknown[])[],
) {
  const { api } = useApp();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(api, input),
    onSuccess: () => Promise.all(touches.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
}

/** SHA-256 of the scripts that install the command line, by file name; empty if the service has none. */
export const useScriptSums = () =>
  useQuery({
    queryKey: keys.scriptSums,
    queryFn: async ({ signal }) => {
      const text = await (await fetch(hrefOf('/install/SHA256SUMS'), { signal })).text();
      return new Map([...text.matchAll(/^([0-9a-f]{64}) {2}(\S+)$/gm)].map(([, sum, file]) => [file, sum]));
    },
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
