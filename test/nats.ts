import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { freePort } from '../server/public-url.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined if the machine has no NATS server: tests that need one are then skipped. */
    natsUrl: string | undefined;
  }
}

/** The folder into which `script/setup.sh` unpacks Debian's NATS server. */
const UNPACKED = join(import.meta.dirname, '../artefacts/nats/usr/sbin');

/** One real NATS server for the whole run; each test's store has its own streams in it. */
export default async function startNats(project: TestProject): Promise<() => Promise<void>> {
  const server = natsProgram() === undefined ? undefined : await startNatsServer();
  project.provide('natsUrl', server?.url);
  return async () => server?.dispose();
}

function natsProgram(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', UNPACKED];
  return folders.map((folder) => join(folder, 'nats-server')).find(existsSync);
}

export interface NatsServer {
  url: string;
  /** Kills the server with SIGKILL, as a crash would. */
  kill(): Promise<void>;
  /** Starts the server again with the data that it stored. */
  start(): Promise<void>;
  /** Removes the server's data while it is stopped. */
  wipe(): void;
  /**
   * Copies the server's data while it is stopped.
   * @returns a function that puts the copy back, as after a loss of power: a disk keeps unsynced writes in any order
   */
  copy(): (loss: Loss) => void;
  dispose(): Promise<void>;
}

/** Lost writes: of messages and of the consumers' positions, or of messages alone. */
export type Loss = 'messages and positions' | 'messages';

export interface NatsOptions {
  /** Whether it has JetStream. */
  keeps?: boolean;
  /** Additional command line arguments. */
  words?: readonly string[];
}

/**
 * Servers that keep three copies of each message. They announce no addresses to clients besides the one that the client was
 * given.
 */
export async function startNatsCluster(size = 3): Promise<NatsServer[]> {
  const ports = await Promise.all(Array.from({ length: size }, () => freePort('127.0.0.1')));
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(',');
  const common = ['--cluster_name', 'capture', '--no_advertise', '--routes', routes];
  return Promise.all(
    ports.map((port, at) =>
      startNatsServer({ words: [...common, '-n', `node-${at}`, '--cluster', `nats://127.0.0.1:${port}`] }),
    ),
  );
}

export async function startNatsServer({ keeps = true, words = [] }: NatsOptions = {}): Promise<NatsServer> {
  const program = natsProgram();
  if (program === undefined) throw new Error('there is no program nats-server');
  const folder = mkdtempSync(join(tmpdir(), 'capture-nats-'));
  const port = await freePort('127.0.0.1');
  // The server has no argument for this setting.
  const settings = `${folder}.conf`;
  writeFileSync(settings, 'max_payload: 16MB\n');
  const given = [
    '-c',
    settings,
    ...(keeps ? ['-js', '-sd', folder] : []),
    '-a',
    '127.0.0.1',
    '-p',
    String(port),
    ...words,
  ];
  let server: ChildProcess | undefined;
  const killAtExit = () => server?.kill('SIGKILL');
  process.once('exit', killAtExit);

  async function start(): Promise<void> {
    const started = spawn(program as string, given, { stdio: 'ignore' });
    server = started;
    while (!(await accepts(port))) {
      if (started.exitCode !== null) throw new Error(`nats-server ended with ${started.exitCode} before it was ready`);
      await pause(20);
    }
  }

  async function kill(): Promise<void> {
    const ended = server;
    server = undefined;
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
    ended.kill('SIGKILL');
    await once(ended, 'exit');
  }

  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    kill,
    start,
    wipe: () => rmSync(folder, { recursive: true, force: true }),
    copy() {
      const copied = `${folder}-copy`;
      rmSync(copied, { recursive: true, force: true });
      cpSync(folder, copied, { recursive: true });
      return (loss) => {
        const lost = loss === 'messages' ? '*/msgs' : '*';
        for (const path of globSync(`jetstream/$G/streams/${lost}`, { cwd: copied })) {
          rmSync(join(folder, path), { recursive: true, force: true });
          cpSync(join(copied, path), join(folder, path), { recursive: true });
        }
      };
    },
    async dispose() {
      process.removeListener('exit', killAtExit);
      await kill();
      for (const path of [folder, settings, `${folder}-copy`]) rmSync(path, { recursive: true, force: true });
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connectSocket(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
