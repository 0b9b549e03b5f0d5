import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { formatMoment } from '../inspect/daemon.ts';
import { describeFinding } from '../inspect/describe.ts';
import type { Checked } from '../inspect/finding.ts';
import { findTroubles } from '../inspect/findings.ts';
import { type Inspection, inspect, type SpoolState } from '../inspect/inspect.ts';
import { formatAge, formatBytes, formatCount, type Line, type Output } from '../output.ts';
import type { Counter } from '../spool/meta.ts';

export const statusCommand = defineCommand({
  name: 'status',
  summary: 'show what is captured, sent and waiting',
  description:
    'Shows where captures go, whether the daemon runs, what of each agent is captured, what waits to be sent, and what is ' +
    'wrong now, with the command to run next. Ends with 1 where something failed, 4 where nobody is signed in, and 75 ' +
    'where the service cannot be reached.',
  examples: [
    ['capture status', 'for people'],
    ['capture status --json', 'for programs'],
  ],
  run: runStatus,
});

async function runStatus(context: Context, _values: object, output: Output): Promise<ExitCode> {
  const inspection = await inspect(context);
  const findings = await findTroubles(inspection, context);
  const troubles = findings.filter(({ outcome }) => outcome === 'failed' || outcome === 'warning');
  const next = chooseNext(troubles);
  output.answer(report(inspection, troubles, next), [
    ...describeService(inspection),
    ...describeDaemon(inspection),
    ...describeAgents(inspection),
    ...describeSpool(inspection),
    ...(troubles.length > 0 ? [''] : []),
    ...troubles.flatMap((finding) => describeFinding(finding, context)),
    ...(next ? ['', `Next: ${next}`] : []),
  ]);
  return exitCodeOf(inspection, troubles);
}

function exitCodeOf({ settings, service }: Inspection, troubles: readonly Checked[]): ExitCode {
  if (settings.secret === undefined || service.secret === 'refused') return EXIT.signInRequired;
  if (service.answer !== 'yes') return EXIT.temporary;
  return troubles.some(({ outcome }) => outcome === 'failed') ? EXIT.failure : EXIT.ok;
}

/** The one command to run next; undefined where there is nothing to be done. */
function chooseNext(troubles: readonly Checked[]): string | undefined {
  const fixes = new Set(troubles.map(({ fix = '' }) => fix.replace(/ {3}#.*/, '')));
  const [first] = fixes;
  if (first === undefined) return undefined;
  return first.startsWith('capture ') ? first : 'capture doctor';
}

function report({ state, service, settings, account, ...more }: Inspection, troubles: Checked[], next?: string) {
  const { daemon, spool, unreadable } = more;
  return {
    ...(settings.url && { url: settings.url }),
    signedIn: settings.secret !== undefined && service.secret !== 'refused',
    reachable: service.answer === 'yes',
    ...(account?.organizationName && { organizationName: account.organizationName }),
    ...(account && { plane: account.plane }),
    ...(service.dashboard && { dashboard: `${service.dashboard}/` }),
    ...{ running: daemon.running, daemon, stateFolder: state, agents: reportAgents(more) },
    unread: more.agents.reduce((sum, { unread }) => sum + unread.length, 0),
    earlier: more.agents.reduce((sum, { earlier }) => sum + earlier, 0),
    leftOut: more.agents.reduce((sum, { leftOut }) => sum + leftOut.length, 0),
    ...(unreadable.preferences && { preferencesTrouble: unreadable.preferences }),
    ...(spool && {
      spooled: spool.waiting,
      counters: spool.counters,
      refused: spool.refused,
      capBytes: spool.capBytes,
      notices: spool.notices,
    }),
    ...(spool?.lastUploadAt && { lastUploadAt: spool.lastUploadAt }),
    troubles: troubles.map(({ check, outcome, sentence, fix }) => ({ check, outcome, sentence, ...(fix && { fix }) })),
    ...(next && { next }),
  };
}

const line = (name: string, text: string): string => `${name.padEnd(13)} ${text}`;

function describeService({ service, settings: { url, secret }, account }: Inspection): string[] {
  const whom = [account?.organizationName, account && `${account.plane} plane`].filter(Boolean).join(', ');
  const isRefused = service.secret === 'refused';
  const signedIn = secret === undefined ? 'no' : isRefused ? `no, the secret is refused${whom && ` (${whom})`}` : whom;
  const reachable = service.answer === 'yes' ? 'reachable' : 'NOT reachable';
  return [
    line('Service', url === undefined ? 'none' : `${url}, ${reachable}`),
    line('Signed in', signedIn || 'not known yet for whom'),
    ...(service.dashboard && secret !== undefined ? [line('Dashboard', `${service.dashboard}/`)] : []),
  ];
}

function describeDaemon({ daemon, now }: Inspection): Line[] {
  const { running, since = '', version = '', paused, pausedUntil } = daemon;
  const until = pausedUntil ? `until ${formatMoment(pausedUntil)}` : 'until `capture resume`';
  return [
    line(
      'Daemon',
      running ? `running${since && ` for ${formatAge(now - Date.parse(since))} (${version})`}` : 'not running',
    ),
    ...(paused ? [line('Paused', until)] : []),
  ];
}

/** What of each agent lies on this machine, and what of it is sent; an agent may keep its transcripts in two ways. */
const reportAgents = ({ agents, spool }: Pick<Inspection, 'agents' | 'spool'>) =>
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

function describeAgents(inspection: Inspection): string[] {
  const here = reportAgents(inspection).filter(({ transcripts, eventsSent }) => transcripts + eventsSent > 0);
  const unread = inspection.agents.flatMap((one) => one.unread);
  const earlier = inspection.agents.reduce((sum, one) => sum + one.earlier, 0);
  const leftOut = inspection.agents.flatMap((one) => one.leftOut);
  const age = formatAge(inspection.now - Math.min(...unread));
  return [
    ...(here.length === 0 ? [line('Agents', 'none has written a transcript yet')] : []),
    ...here.map(({ name, transcripts, bytes, sessions, eventsSent }) => {
      const sent = `${formatCount(eventsSent, 'event')} of ${formatCount(sessions, 'session')} sent`;
      return line(name, `${formatCount(transcripts, 'transcript')} (${formatBytes(bytes)}), ${sent}`);
    }),
    ...(unread.length > 0
      ? [line('Not read yet', `${formatCount(unread.length, 'transcript')}, the oldest for ${age}`)]
      : []),
    ...(earlier > 0
      ? [line('Earlier', `${formatCount(earlier, 'transcript')} from before capturing began, not captured`)]
      : []),
    ...(leftOut.length > 0
      ? [line('Left out', `${formatCount(leftOut.length, 'transcript')}: ${[...new Set(leftOut)].join(', ')}`)]
      : []),
  ];
}

/** Of what is not there as it was written, and of what was masked. */
const COUNTED: readonly (readonly [Counter, one: string, many?: string])[] = [
  ['secretsMasked', 'secret masked', 'secrets masked'],
  ['recordsWithheld', 'record withheld', 'records withheld'],
  [
    'recordsReplayed',
    'record of a fork, held by the session it came from',
    'records of forks, held by the sessions they came from',
  ],
  ['recordsUnreadable', 'piece that is no record, kept as text', 'pieces that are no records, kept as text'],
  ['linesTooLong', 'line too long to be captured', 'lines too long to be captured'],
];

function describeSpool({ spool, now }: Inspection): string[] {
  if (spool === undefined) return [line('Spool', 'nothing captured yet')];
  const { lastUploadAt, counters } = spool;
  const counted = COUNTED.flatMap(([name, one, many]) =>
    counters[name] > 0 ? [formatCount(counters[name], one, many)] : [],
  );
  return [
    line('Spool', describeWaiting(spool, now)),
    line('Last upload', lastUploadAt === undefined ? 'never' : `${formatAge(now - Date.parse(lastUploadAt))} ago`),
    ...(counted.length > 0 ? [line('So far', counted.join(', '))] : []),
  ];
}

function describeWaiting({ waiting, capBytes }: SpoolState, now: number): string {
  const { events, bytes, oldest = now } = waiting;
  if (events === 0) return 'empty: all is sent';
  const size = `${formatBytes(bytes)} of ${formatBytes(capBytes)}`;
  return `${formatCount(events, 'event')} (${size}) waiting, the oldest for ${formatAge(now - oldest)}`;
}
