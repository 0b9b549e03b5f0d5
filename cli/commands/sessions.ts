import { defineCommand, flag, text, value } from '../command.ts';
import { readSettings } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatCount, type Output } from '../output.ts';
import { nameSession, readSkipped } from '../privacy/skipped.ts';
import { alignColumns } from '../sessions/columns.ts';
import { findDashboard, sessionPage } from '../sessions/dashboard.ts';
import { countEvents, describeRow, describeSession, filesOf, reportSession } from '../sessions/describe.ts';
import { locateSpool, requireSpool } from '../sessions/spool.ts';
import type { Spool } from '../spool/open.ts';
import { chooseSessions, readSince } from '../verify/choose.ts';

export interface SessionsOptions {
  session: string | undefined;
  agent: string | undefined;
  since: string | undefined;
  limit: number;
  all: boolean;
}

export const sessionsCommand = defineCommand({
  name: 'sessions',
  summary: 'list what was captured',
  description:
    "Lists captured sessions, the latest first, or says all about one: the service's ids of it, its files, and what of it " +
    'is sent and waiting. `capture import --dry-run` lists what was not captured yet.',
  examples: [
    ['capture sessions', 'the latest'],
    ['capture sessions --since 7d --agent codex', "a week of one agent's"],
    ['capture sessions 0199a213', 'all about one'],
  ],
  arguments: { session: text('[SESSION]', "the agent's id of a session or its beginning, ses_…, or a transcript") },
  options: {
    agent: text('--agent <id>', 'only sessions of this agent, e.g. claude-code'),
    since: text('--since <when>', 'only sessions active since then: a date, or an age like 7d'),
    limit: value('--limit <number>', 'how many to list', toLimit, 20),
    all: flag('--all', 'list every one'),
  },
  run: runSessions,
});

export async function runSessions(context: Context, options: SessionsOptions, output: Output): Promise<void> {
  if (options.session === undefined && locateSpool(context) === undefined) {
    return output.answer({ total: 0, sessions: [] }, [
      'Nothing was captured yet. `capture import --dry-run` says why.',
    ]);
  }
  const spool = requireSpool(context);
  try {
    if (options.session === undefined) list(context, spool, options, output);
    else await show(context, spool, options.session, output);
  } finally {
    spool.close();
  }
}

function list(context: Context, spool: Spool, { agent, since, limit, all }: SessionsOptions, output: Output): void {
  const now = context.now();
  const chosen = chooseSessions(context, spool, {
    sessions: [],
    ...(agent !== undefined && { agent }),
    ...(since !== undefined && { since: readSince(since, now) }),
  });
  const latest = chosen.sort((one, other) => (other.lastAt ?? 0) - (one.lastAt ?? 0));
  const shown = all ? latest : latest.slice(0, limit);
  const counts = countEvents(spool);
  const skipped = readSkipped(context);
  const sessions = shown.map((row) =>
    reportSession(spool, row, counts, skipped.has(nameSession(row.agent, row.agentSession))),
  );
  const more = latest.length - shown.length;
  output.answer({ total: latest.length, sessions }, [
    ...alignColumns(
      sessions.map((report) => describeRow(report, now, context.home)),
      context,
    ),
    ...(latest.length === 0 ? ['No captured session is meant by that.'] : []),
    ...(more > 0 ? [`${formatCount(more, 'more session')}: \`capture sessions --all\``] : []),
  ]);
}

async function show(context: Context, spool: Spool, session: string, output: Output): Promise<void> {
  const { now, home } = context;
  const { url } = readSettings(context);
  const dashboard = url === undefined ? undefined : await findDashboard(context, url);
  const skipped = readSkipped(context);
  const counts = countEvents(spool);
  const rows = chooseSessions(context, spool, { sessions: [session] });
  const reports = rows.map((row) => ({
    files: filesOf(spool, row),
    report: reportSession(spool, row, counts, skipped.has(nameSession(row.agent, row.agentSession))),
  }));
  const [one] = reports;
  if (one === undefined) throw new Failure(EXIT.usage, `No captured session is called ${session}.`);
  const values = reports.map(({ files, report }) => ({
    ...report,
    dashboard: dashboard === undefined ? [] : report.serviceIds.map((id) => sessionPage(dashboard, id)),
    files: files.map(({ root, path, cursor }) => ({
      ...{ root, path },
      ...(cursor.kind === 'file' && { readBytes: cursor.position }),
    })),
  }));
  output.answer(
    { sessions: values },
    reports.flatMap(({ files, report }, index) => [
      ...(index > 0 ? [''] : []),
      ...describeSession(report, files, { dashboard, now: now(), home }),
    ]),
  );
}

function toLimit(text: string): number {
  const limit = Number(text);
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new Failure(EXIT.usage, `--limit takes a number above 0, not ${text}.`, '--all lists every one.');
}
