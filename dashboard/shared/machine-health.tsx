import { Link } from '@tanstack/react-router';
import type { Environment, MachineHealth, MachineState, ReportedState } from '../../contract/environment.ts';
import { onboarding } from '../../contract/onboarding.ts';
import { paths } from '../../contract/pages.ts';
import { serviceAddress } from '../kit/base-path.ts';
import { formatAgo, formatExact, formatMoment, plural } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { useNow } from '../kit/time.tsx';
import { SYSTEMS } from './environment-name.ts';

export interface HealthWords {
  text: string;
  /** `wrong`: somebody should look at the machine. `paused`: its person wants nothing captured. */
  kind: 'healthy' | 'paused' | 'wrong';
}

const STATES: Record<MachineState, string> = {
  disk: 'disk nearly full',
  'state-folders': 'state folder wrong',
  'sign-in': 'signed out',
  service: 'service not reached',
  sending: 'upload refused',
  deferred: 'some sessions deferred',
  replaced: 'damaged spool replaced',
  clock: 'clock wrong',
  version: 'old version',
  daemon: 'daemon not running',
  hooks: 'hooks missing',
  reading: 'transcripts unread',
  pause: 'paused',
  deletion: 'transcripts deleted too soon',
  readable: 'transcripts not readable',
  unknown: 'not everything read',
  unfamiliar: 'new record types',
  preferences: 'preferences wrong',
  full: 'spool full',
  spool: 'spool behind',
  refused: 'events refused',
  damaged: 'damaged spool kept',
  redaction: 'records withheld',
};

/** A command line newer than this page may report a state that the page does not know. */
const wordState = (state: string): string =>
  Object.hasOwn(STATES, state) ? STATES[state as MachineState] : 'unknown state';

function wordReported({ state, since, until }: ReportedState, now: number): string {
  const from = since === undefined ? '' : ` since ${formatMoment(Date.parse(since), now)}`;
  const to = until === undefined ? '' : ` until ${formatMoment(Date.parse(until), now)}`;
  return `${wordState(state)}${from}${to}`;
}

/** While an agent works, events wait for moments. Events that wait for longer than this are stuck. */
const STUCK_MS = 5 * 60_000;

/** The state of a machine's capture in words; undefined if the machine has reported nothing. */
export function wordHealth(health: MachineHealth | undefined, now: number): HealthWords | undefined {
  if (!health) return undefined;
  const { silentSince, reportedAt, waiting = 0 } = health;
  // A state that ends by itself ends here, even if the machine sleeps and does not report it.
  const states = health.states.filter(({ until }) => until === undefined || now < Date.parse(until));
  const paused = states.filter(isPause);
  const notes = states.filter(isNote);
  const troubles = states.filter((one) => !isPause(one) && !isNote(one));
  const isStuck = waiting > 0 && reportedAt !== undefined && now - Date.parse(reportedAt) > STUCK_MS;
  const wrong = [
    ...(silentSince ? [`silent since ${formatDay(silentSince)}`] : []),
    ...new Set(troubles.map((one) => wordReported(one, now))),
    ...(isStuck ? [`${plural(waiting, 'event')} waiting`] : []),
  ];
  const noted = notes.map((one) => wordReported(one, now));
  const text = [...paused.map((one) => wordReported(one, now)), ...wrong, ...noted].join(' · ');
  if (wrong.length > 0) return { text, kind: 'wrong' };
  if (paused.length > 0) return { text, kind: 'paused' };
  return reportedAt === undefined ? undefined : { text: text || 'healthy', kind: 'healthy' };
}

const isPause = ({ state }: ReportedState) => state === ('pause' satisfies MachineState);

/** Everything is captured. */
const isNote = ({ state }: ReportedState) => state === ('unfamiliar' satisfies MachineState);

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const WEEK_MS = 7 * 86_400_000;

const formatDay = (time: string): string =>
  (Date.now() - Date.parse(time) < WEEK_MS ? weekday : date).format(Date.parse(time));

const NO_REPORT =
  'Its capture has not reported yet. A machine reports while capture runs in the background; an import does not.';

const MEANINGS = {
  healthy: '',
  paused: 'Its person paused capture: nothing that agents write there is captured, now or later. ',
  wrong: 'On that machine, capture status names the cause and the fix. ',
} as const;

const TONES = { healthy: 'text-muted', paused: 'text-text', wrong: 'text-warn' } as const;

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
  const reported = Number.isNaN(reportedAt) ? '' : `Reported ${formatAgo(reportedAt, now)}, ${formatExact(reportedAt)}`;
  return (
    <span className={TONES[words.kind]} title={`${MEANINGS[words.kind]}${reported}`}>
      {words.text}
    </span>
  );
}

interface VersionProps {
  machine: Pick<Environment, 'platform' | 'serviceCliVersion'>;
  health: MachineHealth | undefined;
}

/** The version of a machine's command line, and the line that installs the later one that the service offers. */
export function VersionOf({ machine: { platform, serviceCliVersion }, health }: VersionProps) {
  const line = onboarding(serviceAddress()).find(({ systems }) => systems.includes(SYSTEMS[platform]));
  return (
    <span className="text-muted">
      {showHidden(serviceCliVersion)}
      {health?.isOutdated && (
        <>
          {' · '}
          <Link
            to={paths.welcome()}
            className="link"
            title={`To install the service's version, run the line of the first installation again, on that machine: ${line?.command}`}
          >
            update available
          </Link>
        </>
      )}
    </span>
  );
}
