import { formatCount } from '../../contract/count.ts';
import { defineCommand, flag, text } from '../command.ts';
import { readSettings } from '../config.ts';
import { findDashboard } from '../dashboard.ts';
import {
  byTime,
  CHOICE_OPTIONS,
  chooseSession,
  chooseSessions,
  SESSION_NAMES,
  spoolOfUser,
  withSpool,
} from '../sessions/choose.ts';
import { createReports, describeSession } from '../sessions/report.ts';
import { layOutSessions } from '../sessions/table.ts';

const LATEST = 20;

export const sessionsCommand = defineCommand({
  name: 'sessions',
  summary: 'list the captured sessions',
  description:
    'Lists captured sessions, the latest first, or shows one in detail: its ids at the service, its files, and how many events ' +
    'were sent and are waiting. `capture import --dry-run` lists sessions that were not captured yet.',
  examples: [
    ['capture sessions', `the latest ${LATEST}`],
    ['capture sessions --all --since 7d --agent codex', 'one agent, one week'],
    ['capture sessions 0199a213', 'one session in detail'],
    ['capture sessions --waiting', 'sessions that wait to be sent'],
  ],
  takes: {
    session: text('[SESSION]', SESSION_NAMES),
    ...CHOICE_OPTIONS,
    all: flag('--all', 'list all of them'),
    waiting: flag('--waiting', 'only sessions with events that wait to be sent or were refused'),
  },
  async run(context, { session, agent, since, all, waiting }, output) {
    if (session === undefined && spoolOfUser(context) === undefined) {
      const none = 'Nothing was captured yet. `capture import --dry-run` says why.';
      return output.answer({ total: 0, sessions: [] }, [none]);
    }
    await withSpool(context, async (spool) => {
      const reportOf = createReports(spool);
      if (session !== undefined) {
        const { url } = readSettings(context);
        const dashboard = url && (await findDashboard(context, url));
        const report = reportOf(chooseSession(context, spool, session));
        const { value, lines } = describeSession(spool, report, dashboard, context);
        return output.answer({ sessions: [value] }, lines);
      }
      const chosen = chooseSessions(context, spool, { sessions: [], agent, since }).sort(byTime).reverse();
      const reports = chosen.map(reportOf);
      const meant = waiting ? reports.filter((one) => one.eventsWaiting + one.eventsRefused > 0) : reports;
      const shown = all ? meant : meant.slice(0, LATEST);
      const more = meant.length - shown.length;
      const none = waiting ? 'Nothing waits, and nothing was refused.' : 'No captured session matches.';
      output.answer({ total: meant.length, sessions: shown }, [
        ...(meant.length > 0 ? layOutSessions(shown, context) : [none]),
        ...(more > 0 ? [`${formatCount(more, 'more session')}: \`capture sessions --all\``] : []),
      ]);
    });
  },
});
