import { locateSpool } from '../account.ts';
import { count, defineCommand, flag, text } from '../command.ts';
import { readSettings } from '../config.ts';
import { findDashboard } from '../dashboard.ts';
import { formatCount, type Line } from '../output.ts';
import { byTime, CHOICE_OPTIONS, chooseSessions, SESSION_NAMES, withSpool } from '../sessions/choose.ts';
import { alignColumns } from '../sessions/columns.ts';
import { COLUMNS, createReports, describeRow, describeSession } from '../sessions/describe.ts';

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
  arguments: { session: text('[SESSION]', SESSION_NAMES) },
  options: {
    ...CHOICE_OPTIONS,
    limit: count('--limit <number>', 'how many to list', 20, 1),
    all: flag('--all', 'list every one'),
    waiting: flag('--waiting', 'only those of which something waits to be sent, or was refused'),
  },
  async run(context, { session, agent, since, limit, all, waiting }, output) {
    if (session === undefined && locateSpool(context) === undefined) {
      const none = 'Nothing was captured yet. `capture import --dry-run` says why.';
      return output.answer({ total: 0, sessions: [] }, [none]);
    }
    await withSpool(context, async (spool) => {
      const reportOf = createReports(context, spool);
      if (session !== undefined) {
        const { url } = readSettings(context);
        const dashboard = url && (await findDashboard(context, url));
        const found = chooseSessions(context, spool, { sessions: [session] }).map((row) =>
          describeSession(spool, row, reportOf(row), { dashboard, context }),
        );
        const lines = found.flatMap((one, index) => (index > 0 ? ['', ...one.lines] : one.lines));
        return output.answer({ sessions: found.map(({ value }) => value) }, lines);
      }
      const chosen = chooseSessions(context, spool, { sessions: [], agent, since }).sort(byTime).reverse();
      const reports = chosen.map(reportOf);
      const meant = waiting ? reports.filter((one) => one.eventsWaiting + one.eventsRefused > 0) : reports;
      const sessions = all ? meant : meant.slice(0, limit);
      const more = meant.length - sessions.length;
      const rows = sessions.map((one) => describeRow(one, context));
      const [heading = '', ...lines] = alignColumns(COLUMNS, rows, context);
      const table: Line[] = [['dim', heading, ''], ...lines];
      const nothing = waiting ? 'Nothing waits, and nothing was refused.' : 'No captured session is meant by that.';
      const none = spool.sessions.isEmpty() ? 'Nothing was captured yet.' : nothing;
      output.answer({ total: meant.length, sessions }, [
        ...(meant.length > 0 ? table : [none]),
        ...(more > 0 ? [`${formatCount(more, 'more session')}: \`capture sessions --all\``] : []),
      ]);
    });
  },
});
