import { defineCommand, flag, patience, texts } from '../command.ts';
import { EXIT, Failure } from '../failure.ts';
import { CHOICE_OPTIONS, SESSION_NAMES } from '../sessions/choose.ts';
import { reportFindings } from '../verify/report.ts';
import { tellComparison } from '../verify/tell.ts';
import { verify } from '../verify/verify.ts';

export const verifyCommand = defineCommand({
  name: 'verify',
  summary: 'prove that the service has all captured events',
  description:
    'Reads the transcripts again and compares them with the events of the service, one by one. The service answers ' +
    'with digests: no captured text comes back to this machine. Exits with 1 if something is missing, ' +
    'doubled or different, and with 75 if the service cannot be reached.',
  examples: [
    ['capture verify', 'everything'],
    ['capture verify --since 7d', 'sessions that were active within a week'],
    ['capture verify --all', 'everything, and report the result to the service'],
  ],
  takes: {
    sessions: texts('[SESSION...]', `${SESSION_NAMES}; all by default`),
    ...CHOICE_OPTIONS,
    all: flag('--all', 'compare the whole machine, and report counts, kinds of problems and the time to the service'),
    patienceMs: patience,
  },
  async run(context, options, output) {
    const { all, sessions, agent, since } = options;
    if (all && (sessions.length > 0 || agent !== undefined || since !== undefined)) {
      throw new Failure(EXIT.usage, '`--all` compares the whole machine.', 'Leave out sessions, --agent and --since.');
    }
    const findings = await verify(context, options, output);
    if (context.stop.aborted) throw new Failure(EXIT.failure, 'Verifying was interrupted.', 'Nothing was changed.');
    const exitCode = reportFindings(findings, output);
    if (all) await tellComparison(context, output);
    return exitCode;
  },
});
