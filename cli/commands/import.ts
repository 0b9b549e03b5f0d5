import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatCount } from '../../contract/count.ts';
import { defineCommand, flag, patience, text, texts } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { importAll } from '../import/capture.ts';
import { leaveOutForeign } from '../import/foreign.ts';
import { recognizeAgents } from '../import/recognize.ts';
import { rehearse } from '../import/rehearse.ts';
import type { Output } from '../output.ts';
import type { Place, Trouble } from '../read/discover.ts';
import { ownPlaces, type PlaceOptions, placesOf } from '../read/places.ts';
import { requireAgents } from '../sessions/choose.ts';
import { refuseOpenFolder } from '../setup/state-folder.ts';

export const importCommand = defineCommand({
  name: 'import',
  summary: 'capture what the agents have written so far',
  description:
    'Captures the existing transcripts, and waits until the service has acknowledged all of them. For sessions from ' +
    'before `capture init`, it follows your answer there. Files and folders that you name are captured completely.',
  examples: [
    ['capture import', 'captures everything that you allow'],
    ['capture import --dry-run', 'reports what would be sent'],
    ['capture import ~/old/sessions', 'captures the transcripts in a folder'],
    ['capture import --agent codex ~/old/sessions', 'captures only transcripts of Codex'],
  ],
  takes: {
    paths: texts('[PATH...]', "files or folders; the agents' own folders by default"),
    agent: text('--agent <id>', 'only this agent, e.g. claude-code (default: capture recognizes it)'),
    dryRun: flag('--dry-run', 'read and report what would be sent, but capture nothing'),
    show: flag('--show', 'with --dry-run: print the events as they would be sent, one per line'),
    patienceMs: patience,
  },
  async run(context, { agent, dryRun, show, paths, patienceMs }, output) {
    refuseOpenFolder(context);
    const options = { ...context, agents: requireAgents(context, agent) };
    if (show && !dryRun) throw new Failure(EXIT.usage, '--show needs --dry-run.');
    const { places, refused } =
      paths.length === 0
        ? { places: ownPlaces(options), refused: 0 }
        : namedPlaces(paths, (path) => placesAt(context, path, options, output), output);
    const troubled = new Set<string>();
    const onTrouble = ({ path, reason }: Trouble) => {
      // The same path is checked again and again, but reported once.
      if (!troubled.has(path)) output.warn(`${path} cannot be read: ${reason}`);
      troubled.add(path);
    };
    const isNamed = paths.length > 0;
    if (dryRun) await rehearse(context, { places, onTrouble, isNamed, show }, output);
    else await importAll(context, { places, onTrouble, isNamed, patienceMs }, output);
    const unread = troubled.size + refused;
    if (unread > 0) {
      throw new Failure(EXIT.failure, `${formatCount(unread, 'path')} could not be read.`, 'The others were read.');
    }
  },
});

/**
 * The places of all paths that contain transcripts. A path without transcripts causes a warning, and the others still count.
 * @throws the first path's Failure if no path contains transcripts
 */
function namedPlaces(paths: readonly string[], placesAt: (path: string) => Place[], output: Output) {
  const places: Place[] = [];
  const failures: Failure[] = [];
  for (const path of paths) {
    try {
      places.push(...placesAt(path));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  if (first && failures.length === paths.length) throw first;
  for (const { message } of failures) output.warn(message);
  return { places, refused: failures.length };
}

function placesAt({ agents }: Context, path: string, options: PlaceOptions, output: Output): Place[] {
  const named = placesOf(path, options, (absolute) => {
    const recognized = recognizeAgents(absolute, options.agents);
    const names = new Set(recognized.map(({ displayName }) => displayName));
    output.say(`${path} contains transcripts of ${[...names].join(', ')}.`);
    return recognized;
  });
  const within = realpathSync(resolve(options.folder, path));
  const places = named.map((place) => ({ ...place, within }));
  return leaveOutForeign(path, places, agents, output.warn);
}
