import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Client } from '../contract/client.ts';
import type { SessionSummary } from '../contract/review.ts';
import { useApp } from './app.ts';

/** What narrows a list of sessions down; it is the query string of the list and of its page. */
export interface SessionFilter {
  plane?: 'test' | 'all' | undefined;
  environment?: string | undefined;
  agent?: string | undefined;
}

/** The keys of everything that is cached. */
export const keys = {
  person: ['person'],
  sessions: (filter: SessionFilter) => ['sessions', filter],
  allSessions: ['sessions'],
  session: (sessionId: string) => ['session', sessionId],
  summaries: ['summaries'],
  summariesOf: (sessionIds: readonly string[]) => ['summaries', sessionIds],
  event: (sessionId: string, sequence: number) => ['event', sessionId, sequence],
  environments: ['environments'],
  catalog: ['catalog'],
  installations: ['installations'],
  members: ['members'],
  invitations: ['members', 'invitations'],
  secrets: ['secrets'],
} as const;

export const PAGE = 50;

export const listQuery = (filter: SessionFilter, limit = PAGE, cursor?: string) => ({
  secretEnvironment: filter.plane ?? ('live' as const),
  limit: String(limit),
  ...(filter.environment && { environmentId: filter.environment }),
  ...(filter.agent && { agentId: filter.agent }),
  ...(cursor && { cursor }),
});

export function usePersonQuery() {
  const { api } = useApp();
  return useQuery({
    queryKey: keys.person,
    queryFn: async ({ signal }) => (await api.getPerson({ signal })).body,
    staleTime: 300_000,
  });
}

export function useSessions(filter: SessionFilter) {
  const { api } = useApp();
  return useInfiniteQuery({
    queryKey: keys.sessions(filter),
    queryFn: async ({ pageParam, signal }) =>
      (await api.listSessions({ query: listQuery(filter, PAGE, pageParam), signal })).body,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    // Live changes keep the list fresh; all pages again for a glance at another window would be waste.
    refetchOnWindowFocus: false,
  });
}

export function useSession(sessionId: string) {
  const { api } = useApp();
  return useQuery({
    queryKey: keys.session(sessionId),
    queryFn: async ({ signal }) => (await api.getSession({ sessionId, signal })).body.session,
  });
}

/** The figures of sessions, by id. Ones that are asked for together are cached together. */
export function useSummaries(sessionIds: readonly string[]) {
  const { api } = useApp();
  return useQuery({
    queryKey: keys.summariesOf(sessionIds),
    queryFn: async ({ signal }) => readSummaries(api, sessionIds, signal),
    enabled: sessionIds.length > 0,
    placeholderData: (previous) => previous,
  });
}

const MOST_SUMMARIES = 100;

async function readSummaries(api: Client, sessionIds: readonly string[], signal: AbortSignal) {
  const found = new Map<string, SessionSummary>();
  for (let start = 0; start < sessionIds.length; start += MOST_SUMMARIES) {
    const query = { sessionIds: sessionIds.slice(start, start + MOST_SUMMARIES).join(',') };
    const { summaries } = (await api.listSessionSummaries({ query, signal })).body;
    for (const summary of summaries) found.set(summary.sessionId, summary);
  }
  return found;
}

export function useEnvironments() {
  const { api } = useApp();
  return useQuery({
    queryKey: keys.environments,
    queryFn: async ({ signal }) => (await api.listEnvironments({ signal })).body.environments,
  });
}

export function useCatalog() {
  const { api } = useApp();
  return useQuery({
    queryKey: keys.catalog,
    queryFn: async ({ signal }) => (await api.listAgents({ signal })).body.agents,
    staleTime: 3_600_000,
  });
}

export function useInstallations() {
  const { api } = useApp();
  return useQuery({
    queryKey: keys.installations,
    queryFn: async ({ signal }) => (await api.listInstallations({ signal })).body.installations,
  });
}

export function useMembers() {
  const { api } = useApp();
  return useQuery({
    queryKey: keys.members,
    queryFn: async ({ signal }) => (await api.listMembers({ signal })).body.users,
  });
}

/** The invitations that wait, by the id of the invited. */
export function useInvitations() {
  const { api } = useApp();
  return useQuery({
    queryKey: keys.invitations,
    queryFn: async ({ signal }) => {
      const { invitations } = (await api.listInvitations({ signal })).body;
      return new Map(invitations.map((invitation) => [invitation.userId, invitation]));
    },
  });
}

export function useSecrets() {
  const { api } = useApp();
  return useQuery({
    queryKey: keys.secrets,
    queryFn: async ({ signal }) => (await api.listSecrets({ signal })).body.secrets,
  });
}

/** A change to the organization's things; what it touches is read again. */
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
