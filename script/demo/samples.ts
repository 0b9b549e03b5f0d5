import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The recordings were made on this day, all within six minutes. */
const RECORDED_ON = '2026-11-21';

/**
 * The time of each story before today. The overview thus shows several days, and the demo looks the same in a year. Forks and
 * sub-agents move with their session.
 */
const STORIES = [
  { files: 'claude-code/projects/-home-dev-code-backlog/', daysAgo: 11, hoursLater: 2 },
  { files: 'codex/sessions/2026/11/21/rollout-2026-11-21T08-22-57', daysAgo: 9, hoursLater: 6 },
  { files: 'claude-code/projects/-home-dev-code-shortlink/', daysAgo: 6, hoursLater: 1 },
  { files: 'codex/sessions/2026/11/21/rollout-2026-11-21T08-23', daysAgo: 4, hoursLater: 5 },
  { files: 'claude-code/projects/-home-dev-code-tidewatch/', daysAgo: 2, hoursLater: 0 },
  { files: 'codex/sessions/2026/11/21/rollout-2026-11-21T08-24', daysAgo: 1, hoursLater: 7 },
];

/** A day or an instant as text, but not the day in a file name. */
const DAY_OR_INSTANT = new RegExp(`${RECORDED_ON}(T[0-9:.]+Z)?(?!T[0-9])`, 'g');
/** An instant in seconds or milliseconds. */
const EPOCH =
  /("(?:completed_at|create_time|startTime|started_at|timestamp)(?:_ms)?":)(1[0-9]{9})([0-9]{3})?(?![0-9])/g;

/** Copies the recordings from `from` to `into`, and moves all their times to the days before `now`. */
export function copySamples(from: string, into: string, now: Date): void {
  rmSync(into, { recursive: true, force: true });
  cpSync(from, into, { recursive: true });
  for (const file of globSync('**/*.jsonl', { cwd: into })) {
    const story = STORIES.find(({ files }) => file.startsWith(files));
    if (!story) throw new Error(`samples/${file} has no story: add it to script/demo/samples.ts`);
    const day = Math.floor(now.getTime() / DAY_MS) * DAY_MS - story.daysAgo * DAY_MS;
    const path = join(into, file);
    writeFileSync(
      path,
      moveTimes(readFileSync(path, 'utf8'), day - Date.parse(RECORDED_ON) + story.hoursLater * HOUR_MS),
    );
  }
}

function moveTimes(text: string, byMs: number): string {
  const moved = (instant: string) => new Date(Date.parse(instant) + byMs).toISOString();
  return text
    .replace(DAY_OR_INSTANT, (found, time?: string) => (time === undefined ? moved(found).slice(0, 10) : moved(found)))
    .replace(EPOCH, (_, name: string, seconds: string, milliseconds = '') => {
      return `${name}${Number(seconds) + byMs / 1_000}${milliseconds}`;
    });
}
