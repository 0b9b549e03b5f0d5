import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { examine } from '../doctor/examine.ts';
import type { DoctorOptions } from '../doctor/facts.ts';
import { describeExamined, reportExamined, summarize } from '../doctor/report.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatCount, type Output } from '../output.ts';

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'find out why sessions are missing, and how to mend it',
  description:
    'Looks for everything that keeps sessions from arriving, and names the command or edit that mends it. Changes and asks ' +
    'nothing, and works signed out and offline. Ends with 1 where something failed. What --json answers holds no secret, ' +
    'no transcript, and no path but below ~.',
  examples: [
    ['capture doctor', 'what is wrong, and what mends it'],
    ['capture doctor --json', 'for a report of a bug'],
  ],
  run: runDoctor,
});

export async function runDoctor(context: Context, options: DoctorOptions, output: Output): Promise<void> {
  const examined = await examine(context, options);
  output.answer(reportExamined(context, examined), describeExamined(context, examined));
  const { failed } = summarize(examined);
  if (failed > 0)
    throw new Failure(EXIT.failure, `${formatCount(failed, 'check')} failed.`, 'What mends it stands above.');
}
