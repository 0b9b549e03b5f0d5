import { defineCommand, patience, texts } from '../command.ts';
import { EXIT, Failure } from '../failure.ts';
import { CHOICE_OPTIONS, SESSION_NAMES } from '../sessions/choose.ts';
import { reportFindings } from '../verify/report.ts';
import { verify } from '../verify/verify.ts';

export const verifyCommand = defineCommand({
  name: 'verify',
  summary: 'prove that the service holds what was captured',
  description:
    'Reads the transcripts once more and compares them with what the service holds, event by event. The service answers ' +
    'with digests: nothing that was captured comes back to this machine. Ends with 1 where something is missing, ' +
    'doubled or different, with 75 where the service cannot be reached.',
  examples: [
    ['capture verify', 'everything'],
    ['capture verify --since 7d', 'what was active within a week'],
  ],
  takes: {
    sessions: texts('[SESSION...]', `${SESSION_NAMES}; all by default`),
    ...CHOICE_OPTIONS,
    patienceMs: patience,
  },
  async run(context, options, output) {
    const findings = await verify(context, options, output);
    if (context.stop.aborted) throw new Failure(EXIT.failure, 'Verifying was interrupted.', 'Nothing was changed.');
    return reportFindings(findings, output);
  },
});
