#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants, homedir, hostname, setPriority } from 'node:os';
import { isSea } from 'node:sea';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { EXIT } from './failure.ts';
import { exitCodeFor } from './setup/exit-codes.ts';
import { VERSION } from './version.ts';

// A small young generation keeps an import of gigabytes 90 MB smaller, and no slower.
setFlagsFromString('--max-semi-space-size=4');
setFlagsFromString('--semi-space-growth-factor=1');
// Collect garbage when the heap has grown by two fifths instead of three times. This saves 180 MB in an import.
setFlagsFromString('--heap-growing-percent=40');
// A daemon is nearly always at rest. Without the optimizing compilers, it keeps 9 MB less. See `optimizeFor`.
if (process.argv[2] === 'run') for (const flag of ['--no-turbofan', '--no-maglev']) setFlagsFromString(flag);
// No known pattern backtracks endlessly. If one does, V8 tries it in linear time after 50,000 steps.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');

const VERSION_WORDS = ['--version', '-v', '-V', 'version'];

const stop = new AbortController();
// SIGHUP: the terminal was closed.
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
for (const signal of SIGNALS) {
  // A second signal ends the process at once. Nothing is lost at any point.
  process.once(signal, () => stop.abort());
}

// A closed reader, such as `head` or a closed terminal, is no reason to stop. An answer that could not be written is.
let isLost = false;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE' && code !== 'EIO') isLost = true;
  });
}

// People who run capture cannot do anything about node:sqlite being new.
const printers = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name === 'ExperimentalWarning' && warning.message.includes('SQLite')) return;
  for (const print of printers) print(warning);
});

/** If the folder was deleted, for instance a removed worktree, its name from the shell is used. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env.PWD ?? homedir();
  }
}

/**
 * Loads the rest of the program only if more than the version is wanted: loading takes twice as long as the rest of the
 * start.
 */
async function run(words: readonly string[]): Promise<number> {
  if (words.length === 1 && VERSION_WORDS.includes(words[0] ?? '')) {
    process.stdout.write(`${VERSION}\n`);
    return EXIT.ok;
  }
  const [{ runProgram }, { AGENTS }, { fetchPlainly }] = await Promise.all([
    import('./program.ts'),
    import('./agents/all.ts'),
    import('./http.ts'),
  ]);
  return runProgram(
    {
      variables: process.env,
      home: homedir(),
      folder: currentFolder(),
      hostname: hostname(),
      platform: process.platform,
      agents: AGENTS,
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: process.stderr,
      fetch: fetchPlainly,
      spawn,
      program: [process.execPath, ...(isSea() ? [] : process.argv.slice(1, 2))],
      now: Date.now,
      sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
      random: Math.random,
      newKey: randomUUID,
      pid: process.pid,
      lowerPriority: () => setPriority(constants.priority.PRIORITY_LOW),
      takeSignals(take) {
        for (const signal of SIGNALS) process.removeAllListeners(signal).on(signal, take);
      },
      stop: stop.signal,
    },
    words,
  );
}

// A CommonJS file, which this is bundled into, cannot have a top-level `await`.
const exitCode = run(process.argv.slice(2));

// A request that nobody waits for must not keep the process alive. An answer that is still being read must.
void exitCode.then((code) => {
  const end = () => process.exit(exitCodeFor(isLost && code === EXIT.ok ? EXIT.failure : code, process.env));
  // A failed write is reported a moment after its callback.
  process.stdout.write('', () => process.stderr.write('', () => setImmediate(end)));
});
