import { Problem } from '../../contract/problem.ts';
import { PLANES } from '../../contract/secret.ts';
import type { Deps } from '../deps.ts';
import { readUsage } from '../derive/usage.ts';
import type { Handlers } from '../http/handler.ts';
import { createLine } from '../line.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MOST_DAYS = 366;

/** Each asks up to eight questions at once. */
const AT_ONCE = { atOnce: 1, mostWaiting: 100 };

export const usageHandlers = ({ store: { db }, prices, now }: Deps) => {
  const inLine = createLine(AT_ONCE);
  return {
    async getUsage({ caller: { organizationId }, query }) {
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
      const read = () => readUsage(db, { organizationId, planes, from, to }, prices, now());
      return { status: 200, body: await inLine(organizationId, read) };
    },
  } satisfies Partial<Handlers>;
};

/** Not a number for what is no day. */
const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const dayOf = (time: number): string => (Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, 10));
