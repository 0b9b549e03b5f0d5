import { Problem } from '../contract/problem.ts';

interface Line {
  busy: number;
  waiting: (() => void)[];
}

/**
 * Work of many groups, such as organizations, only some of each at the same time: what one asks for leaves connections of
 * the store to the others.
 * @returns runs the work when it is its turn; it throws what that throws, or Problem `service_unavailable` where more of
 *   the group waits already
 */
export function createLine({ atOnce, mostWaiting }: { atOnce: number; mostWaiting: number }) {
  const lines = new Map<string, Line>();
  return async <Result>(group: string, work: () => Promise<Result>): Promise<Result> => {
    const line = lines.get(group) ?? { busy: 0, waiting: [] };
    lines.set(group, line);
    if (line.busy < atOnce) line.busy++;
    else if (line.waiting.length < mostWaiting) await new Promise<void>((resolve) => line.waiting.push(resolve));
    else throw crowded();
    try {
      return await work();
    } finally {
      const next = line.waiting.shift();
      // Whoever is next takes over the place.
      if (next) next();
      else if (--line.busy === 0) lines.delete(group);
    }
  };
}

const crowded = () =>
  new Problem('service_unavailable', 'Your organization asks for too much of this at once. Try again.', {
    retryAfter: 1,
  });
