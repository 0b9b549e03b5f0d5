import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Session } from '../../contract/session.ts';
import { useApp } from '../app/app.ts';

/** The newest session, as soon as there is one. The live stream announces it. */
export function useFirstSession(): Session | undefined {
  const { api, live } = useApp();
  const newest = useQuery({
    queryKey: ['newest-session'],
    queryFn: async ({ signal }) => {
      const query = { limit: '1', secretEnvironment: 'all' } as const;
      return (await api.listSessions({ query, signal })).body.sessions[0] ?? null;
    },
  });
  const { data, refetch } = newest;
  const isWaiting = !data;
  useEffect(() => {
    const look = () => void (isWaiting && refetch());
    const stops = [live.onChange(look), live.onOpen(look)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [live, refetch, isWaiting]);
  return data ?? undefined;
}
