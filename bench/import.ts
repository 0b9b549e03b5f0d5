import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { decodeFrame } from '../server/log/frame.ts';
import { makeCapture, measureFamily, startSeededService, withFolder } from './process.ts';
import type { Row } from './report.ts';

const root = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Real transcripts if they are beside the repository, otherwise the samples. */
const CORPORA = {
  claude: [root('../shared/transcripts/claude-code'), root('samples/claude-code')],
  codex: [root('../shared/transcripts/codex'), root('samples/codex')],
};

const MEGABYTE = 1e6;

/** The service's default rate limits. */
export const DEFAULT_LIMITS = { RATE_LIMIT_SECRET: '600', RATE_LIMIT_USER: '600', RATE_LIMIT_ADDRESS: '600' };
export const SMALL_SESSIONS = 5000;
const COPIES = 21;

/** The command line imports transcripts into the service with default limits: speed, memory and disk space. */
export async function benchImport(): Promise<Row[]> {
  return [
    ...(await benchCase('as it is', (folder) => layOut(folder), { goal: '≥ 20', unit: 'MB/s' })),
    ...(await benchCase('3,000 transcripts', layOutCopies, { goal: '≤ 45', unit: 's' })),
    ...(await benchCase('5,000 sessions of 2 records', layOutSmall, { goal: '≤ 60', unit: 's' })),
    ...(await benchCase('one line of 60 MB', layOutLong, { goal: 'none', unit: 's', peak: '≤ 400' })),
  ];
}

interface Goal {
  goal: string;
  unit: 'MB/s' | 's';
  /** Goal for the peak memory, in MB. */
  peak?: string;
}

function benchCase(
  name: string,
  arrange: (folder: string) => number,
  { goal, unit, peak = '≤ 150' }: Goal,
): Promise<Row[]> {
  return withFolder(async (folder) => {
    const megabytes = arrange(folder) / MEGABYTE;
    const service = await startSeededService(folder, DEFAULT_LIMITS);
    const run = await runCapture(folder, service, 'import');
    const [cpu, deriving] = [service.cpuSeconds(), service.derivingSeconds()];
    await service.stop();
    const disk = diskPerPayload(service.dataDir);
    const figure = unit === 's' ? run.seconds : megabytes / run.seconds;
    const work = `${megabytes.toFixed(1)} MB in ${run.seconds.toFixed(1)} s, with ${run.cpuSeconds.toFixed(1)} s of CPU; the service used ${cpu.toFixed(1)} s, ${deriving.toFixed(1)} of them deriving`;
    const kept = `${(disk.stored / MEGABYTE).toFixed(1)} MB for ${(disk.payload / MEGABYTE).toFixed(1)} MB of payload`;
    return [
      { what: `import, ${name}`, figure, unit, goal, detail: work },
      {
        what: `import, ${name}, peak memory`,
        figure: run.peakMegabytes,
        unit: 'MB',
        goal: peak,
        detail: 'all processes',
      },
      { what: `import, ${name}, disk`, figure: disk.stored / disk.payload, unit: '×', goal: '≤ 0.35', detail: kept },
    ];
  });
}

/** Lays out many copies of the transcripts, each with its own session ids. */
function layOutCopies(folder: string): number {
  let bytes = layOut(folder);
  const target = join(folder, 'claude', 'projects');
  const originals = globSync('corpus/**/*.jsonl', { cwd: target });
  for (let copy = 1; copy < COPIES; copy++) {
    for (const file of originals) {
      const to = join(target, `copy-${copy}`, file).replace(UUID, (id) => renumber(id, copy));
      const text = readFileSync(join(target, file), 'utf8').replace(UUID, (id) => renumber(id, copy));
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, text);
      bytes += text.length;
    }
  }
  return bytes;
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const renumber = (id: string, copy: number) => id.slice(0, -4) + copy.toString(16).padStart(4, '0');

export function layOutSmall(folder: string): number {
  let bytes = 0;
  for (let number = 0; number < SMALL_SESSIONS; number++) {
    const said = (role: string) => claudeRecord(number, role, `What ${role} says in session ${number}`);
    bytes += writeSession(folder, number, `${said('user')}\n${said('assistant')}\n`);
  }
  return bytes;
}

/** Writes one long line of words, like the output of a tool. */
const layOutLong = (folder: string): number =>
  writeSession(folder, 1, `${claudeRecord(1, 'user', 'some words of a log, line after line '.repeat(1_650_000))}\n`);

function writeSession(folder: string, number: number, text: string): number {
  const path = join(folder, 'claude', 'projects', 'shop', `${sessionId(number)}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return Buffer.byteLength(text);
}

const sessionId = (number: number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;

const claudeRecord = (number: number, role: string, content: string) =>
  JSON.stringify({
    ...{ type: role, sessionId: sessionId(number), uuid: randomUUID(), cwd: '/home/dev/shop', version: '2.1.0' },
    timestamp: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
    message: { role, content },
  });

/** Copies the transcripts to the agents' folders. @returns their size in bytes */
function layOut(folder: string): number {
  const claude = join(folder, 'claude', 'projects');
  const codex = join(folder, 'codex', 'sessions');
  let bytes = 0;
  for (const [target, candidates] of [
    [claude, CORPORA.claude],
    [codex, CORPORA.codex],
  ] as const) {
    mkdirSync(target, { recursive: true });
    const source = candidates.find((path) => existsSync(path));
    if (source) cpSync(source, join(target, 'corpus'), { recursive: true });
    for (const file of globSync('**/*.jsonl', { cwd: target })) bytes += statSync(join(target, file)).size;
  }
  return bytes;
}

/** Runs a command to its end over the transcripts in the folder. */
export async function runCapture(folder: string, { url, secret }: { url: string; secret: string }, command: string) {
  const program = await makeCapture(folder);
  const started = performance.now();
  const child = spawn(process.execPath, [program, command, '--quiet'], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      CAPTURE_HOME: join(folder, 'capture'),
      CAPTURE_URL: url,
      CAPTURE_SECRET: secret,
      CLAUDE_CONFIG_DIR: join(folder, 'claude'),
      CODEX_HOME: join(folder, 'codex'),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peakMegabytes = 0;
  let cpuSeconds = 0;
  const sampling = setInterval(() => {
    const now = measureFamily(child.pid ?? 0);
    peakMegabytes = Math.max(peakMegabytes, now.memory);
    cpuSeconds = Math.max(cpuSeconds, now.cpuSeconds);
  }, 100);
  const [code] = await once(child, 'exit');
  clearInterval(sampling);
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  return { seconds: (performance.now() - started) / 1000, cpuSeconds, peakMegabytes };
}

function diskPerPayload(dataDir: string): { stored: number; payload: number } {
  const path = join(dataDir, 'session-capture.sqlite');
  const database = new DatabaseSync(path);
  let payload = 0;
  for (const row of database.prepare('SELECT codec, body FROM appends').iterate()) {
    const { codec, body } = row as { codec: number; body: Uint8Array };
    for (const event of decodeFrame({ codec, body })) payload += event.payload.byteLength;
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return { stored: statSync(path).size, payload };
}
