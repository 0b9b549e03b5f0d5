import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';

const later = async (): Promise<never> => {
  throw new Problem('service_unavailable', 'Not yet.');
};

export const reviewHandlers = (_deps: Deps) =>
  ({
    searchSessions: later,
    findInSession: later,
  }) satisfies Partial<Handlers>;
