import type { MachineHealth, MachineTrouble } from '../../contract/environment.ts';
import { formatAgo, formatExact, plural } from '../kit/format.ts';
import { useNow } from '../kit/time.tsx';

export interface HealthWords {
  text: string;
  /** Somebody should look at the machine. */
  isWrong: boolean;
}

const TROUBLES: Record<MachineTrouble, string> = {
  held: 'upload refused',
  heldSome: 'some sessions refused',
  full: 'spool full',
  replaced: 'damaged spool replaced',
};

/** A command line newer than this page may report a trouble that the page does not know. */
const wordTrouble = (trouble: string): string =>
  Object.hasOwn(TROUBLES, trouble) ? TROUBLES[trouble as MachineTrouble] : 'unknown trouble';

/** While an agent works, events wait for moments. Events that wait for longer than this are stuck. */
const STUCK_MS = 5 * 60_000;

/** The state of a machine's capture in words; undefined if the machine has reported nothing. */
export function wordHealth(health: MachineHealth | undefined, now: number): HealthWords | undefined {
  if (!health) return undefined;
  const { silentSince, reportedAt, waiting = 0, troubles } = health;
  const isStuck = waiting > 0 && reportedAt !== undefined && now - Date.parse(reportedAt) > STUCK_MS;
  const wrong = [
    ...(silentSince ? [`silent since ${formatDay(silentSince)}`] : []),
    ...new Set(troubles.map(wordTrouble)),
    ...(isStuck ? [`${plural(waiting, 'event')} waiting`] : []),
  ];
  if (wrong.length > 0) return { text: wrong.join(' · '), isWrong: true };
  return reportedAt === undefined ? undefined : { text: 'healthy', isWrong: false };
}

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const WEEK_MS = 7 * 86_400_000;

const formatDay = (time: string): string =>
  (Date.now() - Date.parse(time) < WEEK_MS ? weekday : date).format(Date.parse(time));

const NO_REPORT =
  'Its capture has not reported yet. A machine reports while capture runs in the background; an import does not.';

/** The state of a machine's capture, in amber only if something is wrong. */
export function Health({ health }: { health: MachineHealth | undefined }) {
  const now = useNow();
  const words = wordHealth(health, now);
  if (!words) {
    return (
      <span className="text-muted" title={NO_REPORT}>
        no report yet
      </span>
    );
  }
  const reportedAt = Date.parse(health?.reportedAt ?? '');
  const title = Number.isNaN(reportedAt)
    ? undefined
    : `reported ${formatAgo(reportedAt, now)}, ${formatExact(reportedAt)}`;
  return (
    <span className={words.isWrong ? 'text-warn' : 'text-muted'} title={title}>
      {words.text}
    </span>
  );
}

/** The version of a machine's command line, and whether the service offers a later one. */
export const VersionOf = ({ version, health }: { version: string; health: MachineHealth | undefined }) => (
  <span
    className="text-muted"
    title={health?.isOutdated ? "Run capture upgrade to install the service's version" : undefined}
  >
    {version}
    {health?.isOutdated && ' · update available'}
  </span>
);
