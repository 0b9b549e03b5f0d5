import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { readKey } from '../redact/key.ts';
import type { Redactor } from '../redact/redactor.ts';
import { readSettings, type Settings, stateFolder } from './config.ts';
import type { Context } from './context.ts';
import { describe } from './failure.ts';
import { optimizeFor } from './memory.ts';
import { openPolicy, openRedactor } from './pipeline.ts';
import type { Consent } from './privacy/consent.ts';
import type { Place, Trouble } from './read/discover.ts';
import { createRecordHash } from './read/identity.ts';
import { createReader, type Progress, type Work, waitForSender } from './read/reader.ts';
import { openSpool, type Spool } from './spool/open.ts';

/**
 * Reads transcripts into a spool, for `run`, `import` and `import --dry-run`. A large backlog is read in another process. Everything
 * else is read in this one, and so is everything that goes into a spool in memory.
 *
 *     findWork ──► read ─┬─► readHere ────────────────────► read/reader.ts
 *                        └─► readApart ──► readForAnother ──► read/reader.ts, in another process
 */
export function openReader(context: Context, source: ReaderSource, choices: ReaderChoices) {
  const { spool } = source;
  const reader = openReaderHere(context, source, choices);
  let mayReadApart = spool.path !== ':memory:';
  const isLarge = ({ bytes }: Work) => mayReadApart && bytes > LARGE_BYTES;

  function readHere(work: Work, progress: Progress): Promise<boolean> {
    optimizeFor(work.bytes);
    return reader.read(work, progress);
  }

  return {
    /** Looks for transcripts that have grown. */
    findWork: reader.findWork,
    /** Whether another process would read it. */
    isLarge,
    /** Reads all of it, in this or another process. @returns false if some of it is left, so that the caller looks again */
    async read(work: Work, progress: Progress): Promise<boolean> {
      if (!isLarge(work)) return readHere(work, progress);
      try {
        return await readApart(context, { spool: spool.path, places: work.places }, choices, {
          isStopped: progress.isStopped,
          async onCommit(bytes) {
            await progress.onCommit(bytes);
            await waitForSender(spool, progress);
          },
        });
      } catch (error) {
        // From now on this process reads everything. If the cause lies in the work, it fails for the same reason.
        mayReadApart = false;
        choices.onReadHere?.(describe(error));
        return false;
      }
    },
    /** Reads in this process, even a large backlog, for work that must not wait until another process has started. */
    readHere,
  };
}

export type Reader = ReturnType<typeof openReader>;

interface ReaderSource {
  /** The state folder. */
  folder: string;
  settings: Partial<Settings>;
  spool: Spool;
}

export interface ReaderChoices {
  /** See `ReaderOptions`; milliseconds. */
  patienceMs: number;
  onTrouble: (trouble: Trouble) => void;
  /** The person's consent for earlier sessions. Everything is allowed where absent. */
  consent?: Consent | undefined;
  /** Called with the reason if the reading process failed. */
  onReadHere?: (reason: string) => void;
}

/**
 * A larger backlog is read by another process. Starting one takes 0.1 s of processor time from a bundle, and 0.7 s from
 * source.
 */
export const LARGE_BYTES = 8 * 1024 * 1024;

/** Secrets are masked before they reach the spool. */
function openReaderHere(context: Context, { folder, settings, spool }: ReaderSource, choices: ReaderChoices) {
  const { now, newKey } = context;
  let redactor: Redactor | undefined;
  return createReader({
    ...{ spool, now, newKey, state: folder },
    ...choices,
    // Created on first need. If another process reads, this one needs no redactor.
    redactor: {
      redact(events, of) {
        redactor ??= openRedactor(context, { folder, settings });
        return redactor.redact(events, of);
      },
    },
    hashRecord: createRecordHash(readKey(folder)),
    policy: openPolicy(context, spool),
  });
}

/** The command of the reading process. Only this program uses it, so no help mentions it. */
export const READ_APART = 'catch-up';

/** The first line of its standard input. Every further line lets it continue. */
export interface Task {
  /** The path of the spool. */
  spool: string;
  /** `agent` is an index into the program's agents, since several may share an id. */
  places: (Omit<Place, 'agent' | 'onFolder'> & { agent: number })[];
  consent: Consent | undefined;
  patienceMs: number;
}

/** A line of its standard output. */
type ReaderMessage =
  /** This many bytes of transcripts are in the spool. */
  | { readBytes: number }
  | { trouble: Trouble }
  /** Whether everything was read. */
  | { isWhole: boolean };

/**
 * Megabytes. With one, the program's setting elsewhere, the engine collects 1,300 times for 68 MB of transcripts. With four,
 * it collects 315 times, and the peak is 5 MB higher. With eight, it collects 160 times, and the peak is 20 MB higher.
 */
const YOUNG_GENERATION = '--max-semi-space-size=4';

/** The most characters kept of its error output. */
const MAX_ERROR_OUTPUT = 2000;

/** Has another process read everything new at the places. Returns false if some of it is left. Throws if the process fails. */
export async function readApart(
  context: Context,
  { spool, places }: { spool: string; places: readonly Place[] },
  { consent, patienceMs, onTrouble }: ReaderChoices,
  { onCommit, isStopped }: Progress,
): Promise<boolean> {
  const [program = '', ...words] = context.program;
  const child = context.spawn(program, [...words, READ_APART], {
    env: { ...context.variables, NODE_OPTIONS: `${context.variables.NODE_OPTIONS ?? ''} ${YOUNG_GENERATION}` },
    stdio: 'pipe',
    windowsHide: true,
  });
  // The process has ended meanwhile. Its exit code tells why.
  child.stdin.on('error', () => {});
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  ended.catch(() => {});
  let isWhole = false;
  let errorOutput = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errorOutput = `${errorOutput}${chunk}`.slice(0, MAX_ERROR_OUTPUT);
  });

  async function receive(message: ReaderMessage): Promise<void> {
    if ('trouble' in message) return onTrouble(message.trouble);
    if ('isWhole' in message) {
      isWhole = message.isWhole;
      return;
    }
    await onCommit(message.readBytes);
    if (isStopped()) child.stdin.end();
    else if (child.stdin.writable) child.stdin.write('\n');
  }

  try {
    const numbered = places.map((place) => ({ ...place, agent: context.agents.indexOf(place.agent) }));
    const task: Task = { spool, places: numbered, consent, patienceMs };
    child.stdin.write(`${JSON.stringify(task)}\n`);
    for await (const line of createInterface({ input: child.stdout })) await receive(JSON.parse(line) as ReaderMessage);
  } finally {
    child.stdin.end();
    // Until then, the process has the spool open.
    await ended.catch(() => {});
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(errorOutput.trim() || `reading ended with ${code ?? 'a signal'}`);
  return isWhole;
}

/**
 * Runs in the other process. It reads everything new into the spool of the process that started it, and that process sends
 * it. It uses another processor, and its memory is freed when it ends. While it waits for the answer to one commit, it reads
 * for the next one. It ends when its input does.
 */
export async function readForAnother(context: Context): Promise<void> {
  // The young generation of this process may grow up to its limit.
  setFlagsFromString('--semi-space-growth-factor=2');
  const lines = createInterface({ input: context.stdin })[Symbol.asyncIterator]();
  const task = JSON.parse(String((await lines.next()).value)) as Task;
  const send = (message: ReaderMessage) => void context.stdout.write(`${JSON.stringify(message)}\n`);
  const spool = openSpool(task.spool);
  let isLeft = false;
  const isStopped = () => isLeft || context.stop.aborted;

  async function awaitGo(): Promise<void> {
    isLeft = (await lines.next()).done === true;
  }

  try {
    const source = { folder: stateFolder(context), settings: readSettings(context), spool };
    const { consent, patienceMs } = task;
    const reader = openReaderHere(context, source, {
      ...{ consent, patienceMs },
      onTrouble: (trouble) => send({ trouble }),
    });
    const places = task.places.flatMap((place) => {
      const agent = context.agents[place.agent];
      return agent ? [{ ...place, agent }] : [];
    });
    let answered = Promise.resolve();
    const isWhole = await reader.read(reader.findWork(places), {
      isStopped,
      async onCommit(readBytes) {
        await answered;
        send({ readBytes });
        answered = awaitGo();
      },
    });
    await answered;
    send({ isWhole: isWhole && !isStopped() });
  } finally {
    spool.close();
  }
}
