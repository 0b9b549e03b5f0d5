import { defineCommand, flag, text, value } from '../command.ts';
import { readSettings } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { findDashboard, sessionPage } from '../inspect/service.ts';
import { formatCount, type Line, type Output } from '../output.ts';
import { nameSession, readSkipped } from '../privacy/skipped.ts';
import { chooseSessions, locateSpool, readSince, requireSpool } from '../sessions/choose.ts';
import { alignColumns } from '../sessions/columns.ts';
import { COLUMNS, countEvents, describeRow, describeSession, filesOf, reportSession } from '../sessions/describe.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';

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
    ['capture sessions --waiting', 'what is not sent yet'],
  ],
  arguments: { session: text('[SESSION]', "the agent's id of a session or its beginning, ses_…, or a transcript") },
  options: {
    agent: text('--agent <id>', 'only sessions of this agent, e.g. claude-code'),
    since: text('--since <when>', 'only sessions active since then: a date, or an age like 7d'),
    limit: value('--limit <number>', 'how many to list', toLimit, 20),
    all: flag('--all', 'list every one'),
    waiting: flag('--waiting', 'only those of which something waits to be sent, or was refused'),
  },
  run: runSessions,
});

interface SessionsOptions {
  session: string | undefined;
  agent: string | undefined;
  since: string | undefined;
  limit: number;
  all: boolean;
  waiting: boolean;
}

async function runSessions(context: Context, options: SessionsOptions, output: Output): Promise<void> {
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

function list(context: Context, spool: Spool, options: SessionsOptions, output: Output): void {
  const { agent, since, limit, all, waiting } = options;
  const report = createReport(context, spool);
  const chosen = chooseSessions(context, spool, {
    sessions: [],
    ...(agent !== undefined && { agent }),
    ...(since !== undefined && { since: readSince(since, context.now()) }),
  });
  const meant = waiting ? chosen.filter(report.isWaiting) : chosen;
  const latest = meant.sort((one, other) => (other.lastAt ?? 0) - (one.lastAt ?? 0));
  const sessions = latest.slice(0, all ? undefined : limit).map(report.of);
  const more = latest.length - sessions.length;
  const rows = sessions.map((session) => describeRow(session, context));
  const [heading = '', ...lines] = alignColumns(COLUMNS, rows, context);
  const none =
    spool.sessions.list().length === 0 ? 'Nothing was captured yet.' : 'No captured session is meant by that.';
  output.answer({ total: latest.length, sessions }, [
    ...(latest.length === 0 ? [none] : [['dim', heading, ''] satisfies Line, ...lines]),
    ...(more > 0 ? [`${formatCount(more, 'more session')}: \`capture sessions --all\``] : []),
  ]);
}

async function show(context: Context, spool: Spool, session: string, output: Output): Promise<void> {
  const { url } = readSettings(context);
  const dashboard = url === undefined ? undefined : await findDashboard(context, url);
  const report = createReport(context, spool);
  const reports = chooseSessions(context, spool, { sessions: [session] }).map((row) => ({
    files: filesOf(spool, row),
    report: report.of(row),
  }));
  if (reports.length === 0) throw new Failure(EXIT.usage, `No captured session is called ${session}.`);
  const values = reports.map(({ files, report: one }) => ({
    ...one,
    dashboard: dashboard === undefined ? [] : one.serviceIds.map((id) => sessionPage(dashboard, id)),
    files: files.map(({ root, path, cursor }) => ({
      ...{ root, path },
      ...(cursor.kind === 'file' && { readBytes: cursor.position }),
    })),
  }));
  output.answer(
    { sessions: values },
    reports.flatMap(({ files, report: one }, index) => [
      ...(index > 0 ? [''] : []),
      ...describeSession(one, files, { dashboard, context }),
    ]),
  );
}

function createReport(context: Context, spool: Spool) {
  const counts = countEvents(spool);
  const skipped = readSkipped(context);
  return {
    of: (row: SessionRow) => reportSession(spool, row, counts, skipped.has(nameSession(row.agent, row.agentSession))),
    isWaiting: ({ id }: SessionRow) => counts.waiting.has(id) || counts.refused.has(id),
  };
}

function toLimit(text: string): number {
  const limit = Number(text);
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new Failure(EXIT.usage, `--limit takes a number above 0, not ${text}.`, '--all lists every one.');
}
