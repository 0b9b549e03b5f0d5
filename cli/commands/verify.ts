import { defineCommand, text, texts, toSeconds, value } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { readSince } from '../sessions/choose.ts';
import { reportFindings } from '../verify/report.ts';
import { verify } from '../verify/verify.ts';

interface VerifyCommandOptions {
  sessions: string[];
  agent: string | undefined;
  since: string | undefined;
  patience: number;
}

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
  arguments: {
    sessions: texts(
      '[SESSION...]',
      "the agent's id of a session or its beginning, ses_…, or a transcript; all by default",
    ),
  },
  options: {
    agent: text('--agent <id>', 'only sessions of this agent, e.g. claude-code'),
    since: text('--since <when>', 'only sessions active since then: a date, or an age like 7d'),
    patience: value('--patience <seconds>', 'how long to wait for a service that does not answer', toSeconds, 30),
  },
  run: runVerify,
});

async function runVerify(context: Context, options: VerifyCommandOptions, output: Output): Promise<ExitCode> {
  const { sessions, agent, since, patience } = options;
  const findings = await verify(
    context,
    {
      sessions,
      ...(agent !== undefined && { agent }),
      ...(since !== undefined && { since: readSince(since, context.now()) }),
      patienceMs: patience * 1000,
    },
    output,
  );
  if (context.stop.aborted) throw new Failure(EXIT.failure, 'Verifying was interrupted.', 'Nothing was changed.');
  return reportFindings(findings, output);
}
