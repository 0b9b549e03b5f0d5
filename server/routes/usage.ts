import { Problem } from '../../contract/problem.ts';
import { PLANES } from '../../contract/secret.ts';
import type { Deps } from '../deps.ts';
import { readUsage } from '../derive/usage.ts';
import type { Handlers } from '../http/handler.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MOST_DAYS = 366;

export const usageHandlers = ({ longReads, daySums, prices, now }: Deps) =>
  ({
    async getUsage({ caller, query, signal }) {
      const to = query.to ?? dayOf(now());
      const from = query.from ?? dayOf(startOf(to) - (DEFAULT_DAYS - 1) * DAY_MS);
      const days = (startOf(to) - startOf(from)) / DAY_MS + 1;
      if (!(days >= 1 && days <= MOST_DAYS)) {
        throw new Problem(
          'validation_failed',
          `/from and /to take two days, at most ${MOST_DAYS} apart, in their order.`,
        );
      }
      const plane = query.secretEnvironment ?? 'live';
      const planes = plane === 'all' ? PLANES : [plane];
      const filter = { organizationId: caller.organizationId, planes, from, to };
      await daySums.reach(filter);
      const body = await longReads.run(caller, signal, (db) => readUsage(db, filter, prices, now()));
      return { status: 200, body };
    },
  }) satisfies Partial<Handlers>;

/** Not a number for what is no day. */
const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const dayOf = (time: number): string => (Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, 10));
