import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { withExamples } from '../help/examples.ts';
import type { Output } from '../output.ts';
import { readSince } from '../verify/choose.ts';
import { reportFindings } from '../verify/report.ts';
import { verify } from '../verify/verify.ts';

export interface VerifyCommandOptions {
  sessions: string[];
  agent?: string;
  since?: string;
  patience: number;
}

export function addVerify(program: Command, run: (options: VerifyCommandOptions) => Promise<void>): void {
  withExamples(program.command('verify'), [
    ['capture verify', 'everything'],
    ['capture verify --since 7d', 'what was active within a week'],
  ])
    .summary('prove that the service holds what was captured')
    .description(
      'Reads the transcripts once more and compares them with what the service holds, value by value. The service answers ' +
        'with digests: nothing that was captured comes back to this machine. Ends with 1 where something is missing, ' +
        'doubled or different, and with 75 where the service cannot be reached.',
    )
    .argument('[SESSION...]', "the agent's id of a session or its beginning, ses_…, or a transcript; all by default")
    .option('--agent <id>', 'only sessions of this agent, e.g. claude-code')
    .option('--since <when>', 'only sessions active since then: a date, or an age like 7d')
    .option('--patience <seconds>', 'how long to wait for a service that does not answer', toSeconds, 30)
    .action((sessions: string[], options: Omit<VerifyCommandOptions, 'sessions'>) => run({ ...options, sessions }));
}

export async function runVerify(context: Context, options: VerifyCommandOptions, output: Output): Promise<void> {
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
  reportFindings(findings, output);
}

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 0)) throw new Failure(EXIT.usage, `--patience takes a number of seconds, not ${text}.`);
  return seconds;
}
