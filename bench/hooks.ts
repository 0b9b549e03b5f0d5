import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { commandOf, writeScript } from '../cli/hooks/script.ts';
import { withFolder } from './process.ts';
import type { Row } from './report.ts';

const RUNS = 500;
const GOAL = '≤ 10 ms';
/** An agent's message to a hook after a tool call. */
const MESSAGE = JSON.stringify({
  session_id: '7f0c0c0e-6a3c-4b53-9a3a-0c5be5f2ce8a',
  transcript_path: '/home/ada/.claude/projects/-home-ada-shop/7f0c0c0e-6a3c-4b53-9a3a-0c5be5f2ce8a.jsonl',
  hook_event_name: 'PostToolUse',
  tool_response: { stdout: 'x'.repeat(1500) },
});

interface Case {
  what: string;
  detail: string;
  message?: string;
  spoil?(state: string): void;
}

const CASES: Case[] = [
  { what: 'hook', detail: 'keeps the message' },
  { what: 'hook, large message', detail: 'a message of 1 MB', message: MESSAGE.padEnd(1_000_000) },
  { what: 'hook, read-only folder', detail: 'mounted read-only if root', spoil: makeReadOnly },
  { what: 'hook, full disk', detail: 'a file system of 64 KB if root', spoil: fillDisk },
];

/** Runs the hook as agents do, alternating with an empty shell, which is the minimal cost of any hook on this machine. */
export async function benchHooks(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { what, detail, message = MESSAGE, spoil } of CASES) {
    await withFolder(async (folder) => {
      const context = { variables: {}, home: folder, platform: process.platform };
      const inbox = join(folder, '.capture', 'inbox', 'cursor');
      writeScript(context);
      try {
        spoil?.(inbox);
        const { empty, hook } = await compare(commandOf(context, 'cursor'), message);
        const compared = `p50/95/99 ${describe(hook)}, an empty shell ${describe(empty)}`;
        rows.push({ what: `${what}, p95`, figure: hook.p95, unit: 'ms', goal: GOAL, detail: `${detail}; ${compared}` });
      } finally {
        spawnSync('/bin/umount', [inbox], { stdio: 'ignore' });
      }
    });
  }
  return rows;
}

interface Times {
  p50: number;
  p95: number;
  p99: number;
}

async function compare(command: string, message: string): Promise<{ empty: Times; hook: Times }> {
  const [empty, hook]: [number[], number[]] = [[], []];
  for (let run = 0; run < RUNS; run++) {
    empty.push(await runOnce(':', message));
    hook.push(await runOnce(command, message));
  }
  return { empty: summarize(empty), hook: summarize(hook) };
}

function summarize(times: number[]): Times {
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * times.length)] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** Measures from the start of the shell until its outputs are closed, which an agent waits for. */
async function runOnce(command: string, message: string): Promise<number> {
  const started = performance.now();
  const child = spawn('sh', ['-c', command]);
  // The empty command reads nothing.
  child.stdin.on('error', () => {});
  child.stdin.end(message);
  await once(child, 'close');
  return performance.now() - started;
}

const describe = ({ p50, p95, p99 }: Times): string => `${p50.toFixed(1)}/${p95.toFixed(1)}/${p99.toFixed(1)}`;

/** Also mounts the folder read-only, since root may write despite the mode. */
function makeReadOnly(folder: string): void {
  chmodSync(folder, 0o500);
  spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', folder], { stdio: 'ignore' });
}

function fillDisk(folder: string): void {
  const { status } = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=64k,nr_inodes=2', 'tmpfs', folder], {
    stdio: 'ignore',
  });
  if (status === 0) spawnSync('dd', ['if=/dev/zero', `of=${join(folder, 'filler')}`], { stdio: 'ignore' });
}
