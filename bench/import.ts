import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { decodeFrame } from '../server/store/frame.ts';
import { startSeededService, withFolder } from './process.ts';
import type { Row } from './report.ts';

const root = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Real transcripts where they lie beside the repository; else the samples. */
const CORPORA = {
  claude: [root('../shared/transcripts/claude-code'), root('samples/claude-code')],
  codex: [root('../shared/transcripts/codex'), root('samples/codex')],
};

const MEGABYTE = 1e6;

/** The real CLI captures a folder of transcripts into the real service: speed, memory, and what it takes on disk. */
export async function benchImport(): Promise<Row[]> {
  return withFolder(async (folder) => {
    const bytes = layOut(folder);
    const service = await startSeededService(folder);
    const run = await importAll(folder, service.url, service.secret);
    await service.stop();
    const disk = diskPerPayload(service.dataDir);
    const megabytes = bytes / MEGABYTE;
    return [
      {
        what: 'CLI import, transcript bytes',
        figure: megabytes / run.seconds,
        unit: 'MB/s',
        goal: '≥ 10',
        detail: `${megabytes.toFixed(1)} MB in ${run.seconds.toFixed(1)} s, service on the same machine`,
      },
      { what: 'CLI import, peak memory', figure: run.peakMegabytes, unit: 'MB', goal: '< 200', detail: 'resident' },
      {
        what: 'disk per byte of payload',
        figure: disk.stored / disk.payload,
        unit: '×',
        goal: '≤ 0.35',
        detail: `${(disk.stored / MEGABYTE).toFixed(1)} MB for ${(disk.payload / MEGABYTE).toFixed(1)} MB of payload`,
      },
    ];
  });
}

/** Puts the transcripts where the agents would have them; returns their bytes. */
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

async function importAll(folder: string, url: string, secret: string) {
  const started = performance.now();
  const child = spawn(process.execPath, [root('cli/main.ts'), 'import', '--quiet'], {
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
  const sampling = setInterval(() => {
    peakMegabytes = Math.max(peakMegabytes, peakOf(child.pid ?? 0));
  }, 50);
  const [code] = await once(child, 'exit');
  clearInterval(sampling);
  if (code !== 0) throw new Error(`the import ended with ${code}`);
  return { seconds: (performance.now() - started) / 1000, peakMegabytes };
}

/** Linux's own high-water mark of resident memory. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
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
