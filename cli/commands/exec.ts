import { defineCommand, text, texts } from '../command.ts';
import { execute } from '../exec/exec.ts';
import { EXIT, Failure } from '../failure.ts';

const DEFAULT_SECONDS = 120;

export const execCommand = defineCommand({
  name: 'exec',
  summary: 'run an agent and capture what it does, as in a CI job',
  description:
    'Runs a command, captures what agents write while it runs, and waits until the service has acknowledged it. Exits with ' +
    "the command's exit code. Signs in with CAPTURE_URL and CAPTURE_SECRET, needs no set-up, and leaves nothing behind. " +
    'The command runs to its end even if capturing fails. It is not started if the service refuses the secret.',
  examples: [
    ["capture exec -- claude -p 'fix the build'", 'in a CI job or a container'],
    ['capture exec --machine ci -- codex exec --full-auto "review this"', 'all jobs as one machine in the dashboard'],
  ],
  takes: {
    words: texts('<COMMAND...>', 'the command and its arguments, after `--`'),
    machine: text('--machine <name>', 'the name of the machine in the dashboard (default: its host name)'),
    withinMs: {
      flags: '--within <seconds>',
      about: `after the command has ended: how many seconds the service may take to accept the rest (default: ${DEFAULT_SECONDS})`,
      parse(given: string): number {
        const seconds = Number(given);
        if (given.trim() !== '' && seconds >= 0 && seconds <= MAX_SECONDS) return seconds * 1000;
        throw new Failure(EXIT.usage, `${given} is not a number of seconds up to ${MAX_SECONDS}.`);
      },
      absent: DEFAULT_SECONDS * 1000,
    },
  },
  run: execute,
});

const MAX_SECONDS = 86_400;
