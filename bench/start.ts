import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../script/release/bundle.ts';
import { makeExecutable } from '../script/release/executable.ts';
import { findNode } from '../script/release/node.ts';
import { makePackage } from '../script/release/package.ts';
import { isHost, TARGETS } from '../script/release/targets.ts';
import { withFolder } from './process.ts';
import type { Row } from './report.ts';

const RUNS = 40;
const NODE_ALONE = 'Node alone';
/** `status` in a home without a sign-in looks for agents and sends no request. */
const COMMANDS = [['--version'], ['status', '--json']];

/** Measures the start time and size of capture in each form of distribution. */
export function benchStart(): Promise<Row[]> {
  return withFolder(async (folder) => {
    const bundle = join(folder, 'package/capture.js');
    await makePackage(join(folder, 'package'));
    const executable = makeHostExecutable(folder, bundle);
    const ways = {
      'from source': { start: [process.execPath, join(ROOT, 'cli/main.ts')], goal: '' },
      'by script/capture': { start: [join(ROOT, 'script/capture')], goal: '' },
      bundle: { start: [process.execPath, bundle], goal: '≤ 100' },
      executable: { start: [executable], goal: '≤ 100' },
      [NODE_ALONE]: { start: [process.execPath, '-e', '0', '--'], goal: '' },
    };
    const rows = COMMANDS.flatMap((command) => measure(ways, command, folder));
    return [size('bundle', bundle), size('executable', executable), ...rows];
  });
}

function makeHostExecutable(folder: string, bundle: string): string {
  const target = TARGETS.find(isHost);
  if (target === undefined) throw new Error('no executable is made for this platform');
  const executable = join(folder, 'capture');
  makeExecutable({ target, node: findNode(target, folder), bundle }, executable);
  return executable;
}

/** Alternates between the ways, so that other load on the machine affects all of them equally. */
function measure(ways: Record<string, { start: string[]; goal: string }>, command: string[], folder: string): Row[] {
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const env = { HOME: home, PATH: process.env.PATH ?? '' };
  const times = new Map<string, number[]>(Object.keys(ways).map((way) => [way, []]));
  for (let run = -1; run < RUNS; run++) {
    for (const [way, { start }] of Object.entries(ways)) {
      const [program = '', ...args] = [...start, ...command];
      const started = performance.now();
      const { error, stderr } = spawnSync(program, args, { env, encoding: 'utf8' });
      if (error ?? /Error:/.test(stderr)) throw new Error(`${way} did not start: ${stderr}`, { cause: error });
      // The first start of each way reads its files from the disk, later ones from memory, so it does not count.
      if (run >= 0) times.get(way)?.push(performance.now() - started);
    }
  }
  const at = (way: string, share: number) => {
    const sorted = (times.get(way) ?? []).sort((one, other) => one - other);
    return sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  };
  return Object.entries(ways).map(([way, { goal }]) => ({
    what: `\`capture ${command.join(' ')}\`, ${way}`,
    figure: at(way, 0.5),
    unit: 'ms',
    goal,
    // Other load slows down all ways, so only the ratio can be compared between days.
    detail: `${(at(way, 0.5) / at(NODE_ALONE, 0.5)).toFixed(1)} × Node alone; p95 ${at(way, 0.95).toFixed(0)} ms of ${RUNS} runs`,
  }));
}

function size(what: string, path: string): Row {
  return { what: `size of the ${what}`, figure: statSync(path).size / 1e6, unit: 'MB', goal: '', detail: '' };
}
