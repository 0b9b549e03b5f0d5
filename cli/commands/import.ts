import { defineCommand, flag, text, texts, toSeconds, value } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { importAll } from '../import/capture.ts';
import { rehearse } from '../import/rehearse.ts';
import { formatCount, type Output } from '../output.ts';
import type { Place, Trouble } from '../read/discover.ts';
import { ownPlaces, placesOf } from '../read/places.ts';

export interface ImportOptions {
  agent: string | undefined;
  dryRun: boolean;
  show: boolean;
  paths: string[];
  patienceSeconds: number;
}

export const importCommand = defineCommand({
  name: 'import',
  summary: 'capture what the agents have written so far',
  description: 'Captures the transcripts that are there, and waits until the service has acknowledged all of it.',
  examples: [
    ['capture import', 'all that is there'],
    ['capture import --dry-run', 'what there is, without sending it'],
    ['capture import --agent codex ~/old/sessions', "one agent's, from a folder of your own"],
  ],
  arguments: { paths: texts('[PATH...]', "files or folders; the agents' own folders by default") },
  options: {
    agent: text('--agent <id>', 'only this agent, e.g. claude-code'),
    dryRun: flag('--dry-run', 'read and report what would be sent, but capture nothing'),
    show: flag('--show', 'with --dry-run: print the events as they would be sent, one a line'),
    patienceSeconds: value(
      '--patience <seconds>',
      'how long to wait for a service that does not answer',
      toSeconds,
      30,
    ),
  },
  run: runImport,
});

export async function runImport(context: Context, options: ImportOptions, output: Output): Promise<void> {
  const places = choosePlaces(context, options);
  const troubles: Trouble[] = [];
  const onTrouble = (trouble: Trouble) => {
    troubles.push(trouble);
    output.warn(`${trouble.path} cannot be read: ${trouble.reason}`);
  };
  if (options.show && !options.dryRun) throw new Failure(EXIT.usage, '--show goes with --dry-run.');
  if (options.dryRun) await rehearse(context, { places, onTrouble, show: options.show }, output);
  else await importAll(context, { places, onTrouble, patienceMs: options.patienceSeconds * 1000 }, output);
  if (troubles.length > 0) {
    throw new Failure(EXIT.failure, `${formatCount(troubles.length, 'path')} could not be read.`, 'All others were.');
  }
}

function choosePlaces(context: Context, { agent, paths }: ImportOptions): Place[] {
  const agents = context.agents.filter(({ id }) => agent === undefined || id === agent);
  if (agents.length === 0) {
    const known = context.agents.map(({ id }) => id).join(', ');
    throw new Failure(EXIT.usage, `No agent is called ${agent}.`, `Known agents: ${known}.`);
  }
  const options = { ...context, agents };
  return paths.length === 0 ? ownPlaces(options) : paths.flatMap((path) => placesOf(path, options));
}
