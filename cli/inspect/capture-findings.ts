import { statSync } from 'node:fs';
import { formatCount } from '../../contract/count.ts';
import type { MachineState } from '../../contract/environment.ts';
import { shellWord } from '../../contract/quote.ts';
import { RULES } from '../../redact/rules/all.ts';
import { RULES_VERSION } from '../../redact/version.ts';
import type { Context } from '../context.ts';
import { formatAge, formatBytes, formatMoment } from '../output.ts';
import { tilde } from '../paths.ts';
import { SETTINGS } from '../privacy/preferences.ts';
import type { LocalGap } from '../read/unknown.ts';
import { type Check, type Finding, failed, INSTALL_NEWEST, warning } from './finding.ts';
import { isRead } from './gaps.ts';
import type { Inspection } from './inspect.ts';
import { type AgentTranscripts, retentionOf, soonFrom } from './transcripts.ts';

/** The daemon should have read everything older than this. */
const LATE_MS = 10 * 60_000;
/** Above this share of its cap, the spool is growing and no longer just waiting. */
const GROWING_SHARE = 0.5;
const WAITING_MS = 60 * 60_000;
const FREE_WARNING = 1_000_000_000;
const FREE_FAILURE = 50_000_000;

/** Checks that the agents' records are read, kept and sent. */
export const CAPTURE_CHECKS = {
  reading(inspection) {
    const { agents, daemon, now, unreadable } = inspection;
    const unread = agents.flatMap((one) => one.unread);
    const oldest = now - Math.min(...unread);
    if (unreadable.spool || unread.length === 0 || isBeginning(inspection)) return undefined;
    if (daemon.running && oldest < LATE_MS) return undefined;
    const files = agents.reduce((sum, one) => sum + one.files, 0);
    const sentence = `${formatCount(unread.length, 'transcript')} of ${files.toLocaleString('en-US')} ${unread.length === 1 ? 'is' : 'are'} not fully captured yet, the oldest for ${formatAge(oldest)}.`;
    return warning(sentence, 'capture import');
  },

  pause({ pause, continuesAt }) {
    if (pause === undefined) {
      if (continuesAt === undefined) return undefined;
      const sentence = `The clock was set back, so what agents write still counts as written during the last pause. It is not captured until ${formatMoment(continuesAt)}.`;
      const fix = 'Check the clock of this machine. Capture continues by itself at that time.';
      return warning(sentence, fix, { until: continuesAt });
    }
    const until = pause.until === undefined ? '' : ` until ${formatMoment(pause.until)}`;
    const sentence = `Capture is paused${until} (since ${formatMoment(pause.from)}). What agents write is not captured, now or later.`;
    return warning(sentence, 'capture resume', { since: pause.from, until: pause.until });
  },

  deletion(inspection, context) {
    if (inspection.unreadable.spool) return undefined;
    const isEarly = isBeginning(inspection);
    const agents = inspection.agents.map((one) => (isEarly ? { ...one, unread: [] } : one));
    return agents.flatMap((one) => findDeletion(one, context, inspection.now));
  },

  readable({ agents }) {
    const troubles = agents.flatMap((one) => one.troubles);
    if (troubles.length === 0) return undefined;
    const whose = agents.filter((one) => one.troubles.length > 0).map(({ agent }) => agent.displayName);
    const sentence = `${formatCount(troubles.length, 'file or folder', 'files and folders')} of ${whose.join(', ')} cannot be read, so they are not captured.`;
    return failed(sentence, 'capture import --dry-run   # names them; then chmod -R u+rX FOLDER, or chown it');
  },

  unknown: ({ gaps, state }, { home }) =>
    // Files that cannot be opened have their own check.
    gaps
      .filter((gap) => !isRead(gap) && gap.kind !== 'unreadable')
      .map((gap) => describeUnread(gap, tilde(state, home))),

  unfamiliar: ({ gaps }) => gaps.filter(isRead).map(describeUnfamiliar),

  preferences({ unreadable: { preferences } }) {
    if (preferences === undefined) return undefined;
    const sentence = `${preferences.replace(/\.$/, '')}. Nothing is captured until this is corrected.`;
    return failed(sentence, `Correct the file. Its settings are ${SETTINGS.join(', ')}.`);
  },

  full(inspection) {
    if (!isFull(inspection)) return undefined;
    const { size, why, fix } = describeWaiting(inspection);
    return failed(`The spool is full, so nothing more is read: ${size} wait.${why}`, fix);
  },

  spool(inspection) {
    const { spool, unreadable, now } = inspection;
    if (unreadable.spool) {
      return failed(`The spool cannot be opened: ${unreadable.spool}`, unreadable.spoolHint ?? 'capture import');
    }
    if (spool === undefined || isFull(inspection)) return undefined;
    const { bytes, oldest = now } = spool.waiting;
    const { size, why, fix } = describeWaiting(inspection);
    if (bytes >= spool.capBytes * GROWING_SHARE) {
      return warning(`The spool grows towards its cap: ${size} wait.${why}`, fix);
    }
    const age = now - oldest;
    return age > WAITING_MS ? warning(`${size} wait, the oldest for ${formatAge(age)}.${why}`, fix) : undefined;
  },

  refused({ spool }) {
    const refused = spool?.refused ?? [];
    if (refused.length === 0) return undefined;
    const events = refused.reduce((sum, problem) => sum + problem.events, 0);
    const sentence = `${formatCount(events, 'event')} refused by the service and set aside: ${refused[0]?.problem}.`;
    return failed(sentence, 'capture spool retry   # or delete them: capture spool drop');
  },

  damaged({ damaged }) {
    if (damaged.length === 0) return undefined;
    const bytes = damaged.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
    const sentence = `${formatCount(damaged.length, 'damaged spool')} kept (${formatBytes(bytes)}).`;
    return warning(sentence, `capture verify && rm ${damaged.map((path) => `${shellWord(path)}*`).join(' ')}`);
  },

  redaction({ spool }) {
    const withheld = spool?.counters.recordsWithheld ?? 0;
    if (withheld === 0) return undefined;
    const rules = `${RULES.length} rules, version ${RULES_VERSION}`;
    const sentence = `${formatCount(withheld, 'record')} withheld, because masking failed or took too long (${rules}).`;
    return warning(sentence, 'capture redact --test FILE   # shows what is masked in a transcript');
  },
} satisfies { readonly [check in MachineState]?: Check };

/**
 * Whether capturing has just begun: the daemon reads the sessions from before, so unread transcripts are no trouble yet. A later start
 * of the daemon does not count, because a daemon that starts again and again may read nothing.
 */
const isBeginning = ({ daemon, begunAt, now }: Inspection): boolean =>
  daemon.running && begunAt !== undefined && now - begunAt < LATE_MS;

const isFull = ({ spool, daemon }: Inspection): boolean =>
  spool !== undefined && (spool.waiting.bytes >= spool.capBytes || (spool.isFull && daemon.running));

/** The waiting events in words, the last error, and the command that sends them or shows why they wait. */
function describeWaiting({ spool, daemon }: Inspection) {
  const { waiting, capBytes, lastError } = spool as NonNullable<Inspection['spool']>;
  return {
    size: `${formatCount(waiting.events, 'event')} (${formatBytes(waiting.bytes)} of ${formatBytes(capBytes)})`,
    why: lastError === undefined ? '' : ` Last error: ${lastError}`,
    fix: daemon.running ? 'capture status --log' : 'capture import',
  };
}

export const checkDisk: Check = ({ state, freeBytes }) => {
  if (freeBytes >= FREE_WARNING) return undefined;
  const sentence = `The disk with ${state} has ${formatBytes(freeBytes)} left.`;
  const fix = `df -h ${shellWord(state)}   # free some space`;
  return freeBytes >= FREE_FAILURE ? warning(sentence, fix) : failed(`${sentence} Capture stops when it is full.`, fix);
};

const EXCLUDE = 'the folder to "exclude"';
const NEWEST = `${INSTALL_NEWEST} If it says the same, report the form.`;

function describeUnread({ kind, agent, name, what = '', version, count, reason }: LocalGap, state: string): Finding {
  if (kind === 'folder') {
    const sentence = `${what} contains ${formatCount(count, 'transcript')} of ${name}, and is not read.`;
    const folders = JSON.stringify({ folders: { [agent]: [what] } });
    return warning(sentence, `Add ${folders} to ${state}/preferences.json, or ${EXCLUDE}; then capture restart.`);
  }
  if (kind === 'agent') {
    const sentence = `${what} contains ${formatCount(count, 'file')} of ${name}, and no reader of this version reads them`;
    const fix = `${INSTALL_NEWEST} If it cannot read them either, add ${EXCLUDE}.`;
    return warning(`${sentence}${reason ? `: ${reason}` : ''}.`, fix);
  }
  if (kind === 'line') {
    const of = version === undefined ? name : `${name} ${version}`;
    const sentence = `${formatCount(count, 'line')} of ${of} ${count === 1 ? 'was' : 'were'} too long to be captured (64 MB).`;
    return warning(sentence, 'Keep the transcript if you need it. This warning ends 30 days after the line was met.');
  }
  const unread =
    kind === 'ending'
      ? `${formatCount(count, 'file')} of ${name} with the ending ${what}`
      : `${formatCount(count, 'session')} of ${name} in the table ${what}`;
  return warning(`${unread}: this version of capture cannot read them, so they are not captured.`, NEWEST);
}

/** The records are captured as a whole. */
function describeUnfamiliar({ kind, name, what = '', version, count }: LocalGap): Finding {
  const of = version === undefined ? name : `${name} ${version}`;
  const types = kind === 'record';
  const met = types ? formatCount(count, 'type of record', 'types of records') : formatCount(count, 'new field');
  const sentence = `${of} writes ${met} that this version of capture does not know: ${what}. All values are captured, but the dashboard does not explain them.`;
  return warning(sentence, NEWEST);
}

/** Transcripts that an agent will delete before they are captured. */
function findDeletion({ agent, unread }: AgentTranscripts, context: Context, now: number): Finding[] {
  const { setting, days, path } = retentionOf(agent, context) ?? {};
  if (setting === undefined || days === undefined) return [];
  const name = agent.displayName;
  if (days <= 0) {
    const sentence = `${name} keeps no transcripts, since ${setting} is ${days}: there is nothing to capture.`;
    return [failed(sentence, `Set "${setting}" to a number of days in ${path}.`)];
  }
  const soon = unread.filter((at) => at < soonFrom(days, now));
  if (soon.length === 0) return [];
  const sentence =
    `${name} deletes transcripts after ${formatCount(Math.round(days), 'day')} (${setting}), and ` +
    `${formatCount(soon.length, 'transcript')} that it deletes soon ${soon.length === 1 ? 'is' : 'are'} not captured; ` +
    `the oldest is ${formatAge(now - Math.min(...soon))} old.`;
  return [failed(sentence, 'capture import')];
}
