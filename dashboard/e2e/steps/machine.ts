import { execFile } from 'node:child_process';
import { appendFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY } from '../harness/folders.ts';

/** A developer machine: a home folder with the transcripts of an agent, and the command line. */
export interface Machine {
  /** Runs `capture`. Rejects unless it exits with 0. @returns what it printed */
  capture(args: readonly string[], input?: string): Promise<string>;
  /** Writes transcripts like the agent would. @returns the folder */
  projects: string;
}

const run = promisify(execFile);

export function createMachine(home: string, variables: Record<string, string>): Machine {
  const agentFolder = join(home, 'claude');
  const projects = join(agentFolder, 'projects');
  mkdirSync(projects, { recursive: true });
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOME: home,
    CAPTURE_HOME: join(home, 'capture'),
    CLAUDE_CONFIG_DIR: agentFolder,
    ...variables,
  };
  return {
    projects,
    async capture(args, input) {
      const running = run(process.execPath, [join(REPOSITORY, 'cli/main.ts'), ...args], { env, cwd: home });
      running.child.stdin?.end(input);
      const { stdout } = await running;
      return stdout;
    },
  };
}

/** A sample session of which only the first records are written yet. */
export interface GrowingSession {
  /** Writes the remaining records, like the agent would. */
  finish(): void;
}

/**
 * The times are shifted to the present, since a session that ended long ago is closed as soon as it is captured. With
 * `sudden`, all events happen at this very moment, not in the minutes before, when capture was not allowed yet.
 */
export function beginSession(
  machine: Pick<Machine, 'projects'>,
  project: string,
  records: number,
  sudden = false,
): GrowingSession {
  const sample = join(REPOSITORY, 'samples/claude-code/projects', project);
  const folder = join(machine.projects, project);
  const paths = globSync('**/*.json*', { cwd: sample });
  const texts = new Map(paths.map((path) => [path, readFileSync(join(sample, path), 'utf8')]));
  const times = [...texts.values()].flatMap((text) => text.match(TIME) ?? []);
  const late = Date.now() - Math.max(...times.map((time) => Date.parse(time)));
  const shift = (time: string) => new Date(sudden ? Date.now() : Date.parse(time) + late).toISOString();

  const lines = new Map([...texts].map(([path, text]) => [path, text.replace(TIME, shift).split('\n')]));
  const [main = ''] = paths.filter((path) => !path.includes(sep));
  const unwritten = lines.get(main)?.splice(records, Number.POSITIVE_INFINITY, '') ?? [];
  // Each file is written once, because a machine that watches the folder reads it at any moment.
  for (const [path, written] of lines) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), written.join('\n'));
  }
  return { finish: () => appendFileSync(join(folder, main), unwritten.join('\n')) };
}

const TIME = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
