#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants, homedir, hostname, setPriority } from 'node:os';
import { isSea } from 'node:sea';
import { setFlagsFromString } from 'node:v8';
import { EXIT } from './failure.ts';
import { exitCodeFor } from './setup/exit-codes.ts';
import { VERSION } from './version.ts';

// A small young generation: an import of gigabytes then stays 90 MB smaller, and is no slower.
setFlagsFromString('--max-semi-space-size=4');
setFlagsFromString('--semi-space-growth-factor=1');
// Collect garbage when the heap has grown by two fifths, not when it has tripled: 180 MB less in an import.
setFlagsFromString('--heap-growing-percent=40');
// A daemon is at rest nearly always: without the compilers that optimize it keeps 9 MB less. See `optimizeFor`.
if (process.argv[2] === 'run') for (const flag of ['--no-turbofan', '--no-maglev']) setFlagsFromString(flag);
// No pattern is known that goes back without end; should one, V8 tries it in linear time after 50,000 steps.
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');

const VERSION_WORDS = ['--version', '-v', '-V', 'version'];

const stop = new AbortController();
// SIGHUP: the terminal was closed.
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
for (const signal of SIGNALS) {
  // A second signal ends it at once: nothing is lost at any point.
  process.once(signal, () => stop.abort());
}

// A reader that is gone, such as `head` or a closed terminal, is no reason to stop. An answer that could not be written is.
let isLost = false;
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE' && code !== 'EIO') isLost = true;
  });
}

// Nobody who runs capture can act on node:sqlite being new.
const printers = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name === 'ExperimentalWarning' && warning.message.includes('SQLite')) return;
  for (const print of printers) print(warning);
});

/** By its name where it was deleted, such as a worktree that one is still in. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env.PWD ?? homedir();
  }
}

/** Everything else is loaded where the version is not all that is asked for: that takes twice as long as the rest of the start. */
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

// No `await` out here: a CommonJS file, which it is bundled into, cannot have one.
const exitCode = run(process.argv.slice(2));

// A request that nobody waits for any more must not keep the process; an answer that is still being read must.
void exitCode.then((code) => {
  const end = () => process.exit(exitCodeFor(isLost && code === EXIT.ok ? EXIT.failure : code, process.env));
  // A failed write is reported a moment after its callback.
  process.stdout.write('', () => process.stderr.write('', () => setImmediate(end)));
});
