import { defineCommand } from '../command.ts';
import { EXIT, type ExitCode } from '../failure.ts';
import { type Checked, describeFinding } from '../inspect/finding.ts';
import { findTroubles } from '../inspect/findings.ts';
import { type Inspection, inspect } from '../inspect/inspect.ts';
import { formatAge, formatBytes, formatCount } from '../output.ts';
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
  async run(context, _values, output) {
    const inspection = await inspect(context);
    const findings = findTroubles(inspection, context);
    const troubles = findings.filter(({ outcome }) => outcome === 'failed' || outcome === 'warning');
    const next = chooseNext(troubles);
    output.answer(report(inspection, troubles, next), [
      ...describeService(inspection),
      describeDaemon(inspection),
      ...describeAgents(inspection),
      ...describeSpool(inspection),
      ...(troubles.length > 0 ? [''] : []),
      ...troubles.flatMap((finding) => describeFinding(finding, context)),
      ...(next ? ['', `Next: ${next}`] : []),
    ]);
    return exitCodeOf(inspection, troubles);
  },
});

const isSignedIn = ({ settings, service }: Inspection) => settings.secret !== undefined && service.secret !== 'refused';

function exitCodeOf(inspection: Inspection, troubles: readonly Checked[]): ExitCode {
  if (!isSignedIn(inspection)) return EXIT.signInRequired;
  if (inspection.service.answer !== 'yes') return EXIT.temporary;
  return troubles.some(({ outcome }) => outcome === 'failed') ? EXIT.failure : EXIT.ok;
}

/** The one command to run next; undefined where there is nothing to be done. */
function chooseNext([first]: readonly Checked[]): string | undefined {
  const fix = first?.fix?.replace(/ {3}#.*/, '');
  return fix === undefined || fix.startsWith('capture ') ? fix : 'capture doctor';
}

function report(inspection: Inspection, troubles: readonly Checked[], next: string | undefined) {
  const { state, service, settings, account, daemon, spool, unreadable } = inspection;
  const { unread, earlier, leftOut } = addUp(inspection);
  return {
    url: settings.url,
    signedIn: isSignedIn(inspection),
    reachable: service.answer === 'yes',
    organizationName: account?.organizationName,
    plane: account?.plane,
    dashboard: service.dashboard && `${service.dashboard}/`,
    ...{ running: daemon.running, daemon, stateFolder: state, agents: reportAgents(inspection) },
    ...{ unread: unread.length, earlier, leftOut: leftOut.length },
    preferencesTrouble: unreadable.preferences,
    ...(spool && {
      spooled: spool.waiting,
      counters: spool.counters,
      refused: spool.refused,
      capBytes: spool.capBytes,
      notices: spool.notices,
      lastUploadAt: spool.lastUploadAt,
    }),
    troubles: troubles.map(({ check, outcome, sentence, fix }) => ({ check, outcome, sentence, fix })),
    next,
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

function describeDaemon({ daemon: { running, since, version = '' }, now }: Inspection): string {
  const age = since === undefined ? '' : ` for ${formatAge(now - Date.parse(since))} (${version})`;
  return line('Daemon', running ? `running${age}` : 'not running');
}

/** What of all agents is not captured. */
const addUp = ({ agents }: Inspection) => ({
  unread: agents.flatMap((one) => one.unread),
  earlier: agents.reduce((sum, one) => sum + one.earlier, 0),
  leftOut: agents.flatMap((one) => one.leftOut),
});

/** What of each agent lies on this machine, and what of it is sent; an agent may keep its transcripts in two ways. */
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

function describeAgents(inspection: Inspection): string[] {
  const here = reportAgents(inspection).filter(({ transcripts, eventsSent }) => transcripts + eventsSent > 0);
  const { unread, earlier, leftOut } = addUp(inspection);
  const age = formatAge(inspection.now - Math.min(...unread));
  const isUnknown = inspection.unreadable.spool !== undefined;
  const row = (name: string, count: number, rest: string): string[] =>
    count > 0 ? [line(name, formatCount(count, 'transcript') + rest)] : [];
  return [
    ...(here.length === 0 ? [line('Agents', 'none has written a transcript yet')] : []),
    ...here.map(({ name, transcripts, bytes, sessions, eventsSent }) => {
      const sent = isUnknown ? '' : `, ${formatCount(eventsSent, 'event')} of ${formatCount(sessions, 'session')} sent`;
      return line(name, `${formatCount(transcripts, 'transcript')} (${formatBytes(bytes)})${sent}`);
    }),
    ...row('Not read yet', isUnknown ? 0 : unread.length, `, the oldest for ${age}`),
    ...row('Earlier', earlier, ' from before capturing began, not captured'),
    ...row('Left out', leftOut.length, `: ${[...new Set(leftOut)].join(', ')}`),
  ];
}

/** Of what is not there as it was written, and of what was masked. */
const COUNTED: readonly (readonly [Counter, label: string])[] = [
  ['secretsMasked', 'secrets masked'],
  ['recordsWithheld', 'records withheld'],
  ['recordsReplayed', 'records of forks, held by the sessions they came from'],
  ['recordsUnreadable', 'kept as text, being no records'],
  ['linesTooLong', 'lines too long to be captured'],
];

function describeSpool({ spool, now, unreadable }: Inspection): string[] {
  if (unreadable.spool) return [line('Spool', 'cannot be opened')];
  if (spool === undefined) return [line('Spool', 'nothing captured yet')];
  const { waiting, capBytes, lastUploadAt, counters } = spool;
  const { events, bytes, oldest = now } = waiting;
  const size = `${formatBytes(bytes)} of ${formatBytes(capBytes)}`;
  const depth = `${formatCount(events, 'event')} (${size}) waiting, the oldest for ${formatAge(now - oldest)}`;
  const counted = COUNTED.filter(([name]) => counters[name] > 0).map(
    ([name, label]) => `${label} ${counters[name].toLocaleString('en-US')}`,
  );
  return [
    line('Spool', events === 0 ? 'empty: all is sent' : depth),
    line('Last upload', lastUploadAt === undefined ? 'never' : `${formatAge(now - Date.parse(lastUploadAt))} ago`),
    ...(counted.length > 0 ? [line('So far', counted.join(', '))] : []),
  ];
}
