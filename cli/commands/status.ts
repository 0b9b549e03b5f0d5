import { formatCount } from '../../contract/count.ts';
import type { Coverage } from '../../contract/environment.ts';
import { countNotRead } from '../../contract/gap-kinds.ts';
import type { Visibility } from '../../contract/session.ts';
import { defineCommand, flag } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { logPaths, readLog } from '../daemon/log.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { type Checked, describeFinding, withoutFolders } from '../inspect/finding.ts';
import { CHECKS, findTroubles } from '../inspect/findings.ts';
import { reportGaps } from '../inspect/gaps.ts';
import { type Inspection, inspect } from '../inspect/inspect.ts';
import { formatAge, formatBytes, type Output } from '../output.ts';
import { VISIBILITY_WORDS } from '../sessions/report.ts';
import type { Counter } from '../spool/meta.ts';
import { VERSION } from '../version.ts';

/** Number of log lines shown. */
const LATEST = 50;

export const statusCommand = defineCommand({
  name: 'status',
  summary: 'show what is captured, sent and waiting, and any problems',
  description:
    'Shows the service, the organization, the daemon, the captured sessions of each agent, the waiting events, and every problem ' +
    'that keeps sessions from arriving, with the command that fixes it. Changes nothing. Works signed out and offline. ' +
    'Exits with 1 if something failed, 4 if nobody is signed in, and 75 if the service cannot be reached.',
  examples: [
    ['capture status', 'for people'],
    ['capture status --json', 'for programs'],
    ['capture status --log', 'the latest lines of the daemon’s log'],
    ['capture status --report', 'for a bug report'],
  ],
  takes: {
    log: flag(
      '--log',
      `show the last ${LATEST} lines of the daemon’s log instead; it contains nothing from transcripts`,
    ),
    report: flag(
      '--report',
      'print the number of checks and each problem that they found, without secrets, transcripts, or paths outside ~',
    ),
  },
  async run(context, options, output) {
    if (options.log) return showLog(context, output);
    const inspection = await inspect(context);
    const troubles = findTroubles(inspection, context);
    const next = chooseNext(troubles);
    const status = summarize(inspection, troubles, next);
    if (options.report) {
      const report = reportBug(context, troubles);
      output.answer(report, JSON.stringify(report, undefined, 2).split('\n'));
    } else {
      output.answer(status, [
        ...describeStatus(inspection, status),
        ...(troubles.length > 0 ? [''] : []),
        ...troubles.flatMap((finding) => describeFinding(finding, context)),
        ...(next ? ['', `Next: ${next}`] : []),
      ]);
    }
    if (!status.signedIn) return EXIT.signInRequired;
    if (!status.reachable) return EXIT.temporary;
    return troubles.some(({ outcome }) => outcome === 'failed') ? EXIT.failure : EXIT.ok;
  },
});

function showLog(context: Context, output: Output): ExitCode {
  const folder = stateFolder(context);
  const path = logPaths(folder).current;
  const lines = readLog(folder).slice(-LATEST);
  output.answer({ path, lines }, lines);
  output.say(lines.length > 0 ? `From ${path}` : 'The log is empty. `capture restart` starts the daemon.');
  return EXIT.ok;
}

/** The `capture` command to run next. Undefined where no command helps. */
function chooseNext([first]: readonly Checked[]): string | undefined {
  const fix = first?.fix.replace(/ {3}#.*/, '');
  return fix?.startsWith('capture ') ? fix : undefined;
}

/**
 * The report that a person may paste into a bug report: `~` replaces the home folder, and a variable replaces the state
 * folder.
 */
function reportBug(context: Context, troubles: readonly Checked[]) {
  const troubled = new Set(troubles.map(({ check }) => check));
  const failed = troubles.filter(({ outcome }) => outcome === 'failed').length;
  return {
    version: VERSION,
    platform: context.platform,
    summary: { failed, warning: troubles.length - failed, ok: Object.keys(CHECKS).length - troubled.size },
    checks: troubles.map(({ check, outcome, sentence, fix }) => ({
      check,
      outcome,
      sentence: withoutFolders(sentence, context),
      fix: withoutFolders(fix, context),
    })),
  };
}

/** The status for programs. */
function summarize(inspection: Inspection, troubles: readonly Checked[], next: string | undefined) {
  const { state, service, settings, account, daemon, agents, spool } = inspection;
  return {
    url: settings.url,
    signedIn: settings.secret !== undefined && service.secret !== 'refused',
    reachable: service.answer === 'yes',
    organizationName: account?.organizationName,
    plane: account?.plane,
    visibility: inspection.visibility ?? 'team',
    dashboard: service.dashboard && `${service.dashboard}/`,
    ...{ running: daemon.running, daemon, stateFolder: state, agents: reportAgents(inspection) },
    unread: agents.flatMap((one) => one.unread).length,
    earlier: agents.reduce((sum, one) => sum + one.earlier, 0),
    keptBack: agents.flatMap((one) => one.keptBack).length,
    gone: inspection.gone,
    expiring: agents.reduce((sum, one) => sum + one.expiring, 0),
    coverage: inspection.coverage && { ...inspection.coverage, notRead: countNotRead(inspection.gaps) },
    gaps: reportGaps(inspection.gaps),
    spooled: spool?.waiting,
    counters: spool?.counters,
    refused: spool?.refused,
    deferred: spool?.deferred.map(({ agent, agentSession, sentence, until }) => {
      return { agent, session: agentSession, sentence, until: new Date(until).toISOString() };
    }),
    capBytes: spool?.capBytes,
    lastUploadAt: spool?.lastUploadAt,
    troubles: troubles.map(({ check, outcome, sentence, fix }) => ({ check, outcome, sentence, fix })),
    next,
  };
}

/** Per agent, the transcripts on this machine and the events sent from them. An agent may store its transcripts in two ways. */
const reportAgents = ({ agents, spool }: Inspection) =>
  [...Map.groupBy(agents, ({ agent }) => agent.id)].map(([id, all]) => {
    const { sessions = 0, eventsSent = 0 } = spool?.sent.find(({ agent }) => agent === id) ?? {};
    return {
      agent: id,
      name: all[0]?.agent.displayName ?? id,
      transcripts: all.reduce((sum, { files }) => sum + files, 0),
      bytes: all.reduce((sum, one) => sum + one.bytes, 0),
      ...{ sessions, eventsSent },
    };
  });

const ANSWERS = {
  yes: 'reachable',
  no: 'NOT reachable',
  error: 'reached, but it answers with an error',
  other: 'NOT reachable: something else answers there',
  unasked: 'not asked',
} as const;

/** The same status for people, one line per item. A false or empty item is left out. */
function describeStatus(inspection: Inspection, status: ReturnType<typeof summarize>): string[] {
  const { now, account, service, spool, settings, daemon } = inspection;
  const { unread, earlier, keptBack, gone, expiring, dashboard } = status;
  const isKnown = inspection.unreadable.spool === undefined;
  const whom = [account?.organizationName, account && `${account.plane} plane`].filter(Boolean).join(', ');
  const refused = service.secret === 'refused' && `no, the secret is refused${whom && ` (${whom})`}`;
  const since = daemon.since && ` for ${formatAge(now - Date.parse(daemon.since))} (${daemon.version})`;
  const agents = status.agents.filter(({ transcripts, eventsSent }) => transcripts + eventsSent > 0);
  const oldest = now - Math.min(...inspection.agents.flatMap((one) => one.unread));
  const reasons = [...new Set(inspection.agents.flatMap((one) => one.keptBack))].join(', ');
  const lines: (readonly [name: string, text: string | false | undefined])[] = [
    ['Service', settings.url ? `${settings.url}, ${ANSWERS[service.answer]}` : 'none'],
    ['Signed in', settings.secret === undefined ? 'no' : refused || whom || 'yes, organization not known yet'],
    ['Dashboard', settings.secret !== undefined && dashboard],
    ['Daemon', daemon.running ? `running${since ?? ''}` : 'not running'],
    ['New sessions', settings.secret !== undefined && describeVisibility(inspection.visibility)],
    ['Agents', agents.length === 0 && 'no transcripts found yet'],
    ...agents.map(({ name, transcripts, bytes, sessions, eventsSent }): [string, string] => {
      const sent = `, ${formatCount(eventsSent, 'event')} of ${formatCount(sessions, 'session')} sent`;
      return [name, `${formatCount(transcripts, 'transcript')} (${formatBytes(bytes)})${isKnown ? sent : ''}`];
    }),
    ['Transcripts', status.coverage && describeCoverage(status.coverage)],
    [
      'Not read yet',
      isKnown && unread > 0 && `${formatCount(unread, 'transcript')}, the oldest for ${formatAge(oldest)}`,
    ],
    ['Earlier', earlier > 0 && `${formatCount(earlier, 'transcript')} from before setup, not captured`],
    ['Deleted', gone > 0 && `${formatCount(gone, 'captured session')} no longer on this machine: capture recover`],
    ['Deleted soon', expiring > 0 && `${formatCount(expiring, 'transcript')}, which the agents delete within a week`],
    ['Kept back', keptBack > 0 && `${formatCount(keptBack, 'transcript')}: ${reasons}`],
    ...(spool
      ? describeSpool(spool, now)
      : [['To be sent', isKnown ? 'nothing captured yet' : 'the spool cannot be opened'] as const]),
  ];
  return lines.flatMap(([name, text]) => (text ? [`${name.padEnd(13)} ${text}`] : []));
}

/** How many transcripts are where. The sum counts each once. */
function describeCoverage({
  captured,
  keptBack,
  waiting,
  notRead,
}: Coverage & { notRead: number }): string | undefined {
  const seen = captured + keptBack + waiting + notRead;
  if (seen === 0) return undefined;
  if (captured === seen) return `${seen.toLocaleString('en-US')} seen, all captured`;
  const parts = [
    `${captured.toLocaleString('en-US')} captured`,
    `${keptBack.toLocaleString('en-US')} kept back`,
    ...(waiting > 0 ? [`${waiting.toLocaleString('en-US')} waiting`] : []),
    `${notRead.toLocaleString('en-US')} not read`,
  ];
  return `${seen.toLocaleString('en-US')} seen: ${parts.join(', ')}`;
}

/** Only the service knows the organization's setting. */
const describeVisibility = (visibility: Visibility = 'team'): string =>
  visibility === 'team'
    ? 'your organization and the repository decide who sees them'
    : `${visibility}: ${VISIBILITY_WORDS[visibility]}`;

/** Records and lines that were changed or left out on the way. */
const COUNTED: readonly (readonly [Counter, one: string, many: string])[] = [
  ['secretsMasked', 'secret masked', 'secrets masked'],
  ['recordsWithheld', 'record withheld', 'records withheld'],
  [
    'recordsReplayed',
    'fork record already captured in the original session',
    'fork records already captured in the original session',
  ],
  ['recordsUnreadable', 'line kept as plain text', 'lines kept as plain text'],
  ['linesTooLong', 'line too long to capture', 'lines too long to capture'],
];

function describeSpool(spool: NonNullable<Inspection['spool']>, now: number): [string, string][] {
  const { waiting, capBytes, lastUploadAt, counters } = spool;
  const { events, bytes, oldest = now } = waiting;
  const size = `${formatBytes(bytes)} of ${formatBytes(capBytes)}`;
  const depth = `${formatCount(events, 'event')} (${size}) waiting, the oldest for ${formatAge(now - oldest)}`;
  const counted = COUNTED.filter(([name]) => counters[name] > 0).map(([name, one, many]) =>
    formatCount(counters[name], one, many),
  );
  return [
    ['To be sent', events === 0 ? 'nothing waits' : depth],
    ['Last upload', lastUploadAt === undefined ? 'never' : `${formatAge(now - Date.parse(lastUploadAt))} ago`],
    ['So far', counted.join('; ')],
  ];
}
