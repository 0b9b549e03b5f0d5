import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { manifestOf, readManifest } from './manifest.ts';

/** How often the service checks whether a backup is due, and how long it waits after a first failure. */
const LOOK_EVERY_MS = 10 * 60_000;

export interface ScheduledBackupsOptions {
  folder: string;
  everyMs: number;
  /** How many of the newest backups are kept. */
  keep: number;
  /** The program of the service, and its environment variables. */
  program: string;
  variables: NodeJS.ProcessEnv;
  onDone: (backup: LastBackup) => void;
  onError: (error: Error) => void;
  now: () => number;
}

export interface LastBackup {
  file: string;
  /** Epoch milliseconds. */
  at: number;
  bytes: number;
}

/** Backs up the embedded store while the service runs. Each backup is a separate process, so its memory is freed at the end. */
export class ScheduledBackups {
  readonly #options: ScheduledBackupsOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #child: ChildProcess | undefined;
  /** How many attempts in a row have failed, and when the next one is due. */
  #failed = { attempts: 0, until: 0 };

  constructor(options: ScheduledBackupsOptions) {
    this.#options = options;
  }

  get everyMs(): number {
    return this.#options.everyMs;
  }

  start(): void {
    const look = () => {
      this.#running ??= this.backUpIfDue()
        .catch(this.#options.onError)
        .finally(() => {
          this.#running = undefined;
        });
    };
    look();
    this.#timer = setInterval(look, LOOK_EVERY_MS).unref();
  }

  /** Ends a running backup. No file remains under its final name. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#child?.kill('SIGKILL');
    await this.#running;
  }

  /** The newest complete backup of the schedule. */
  async last(): Promise<LastBackup | undefined> {
    return (await this.#list()).at(-1);
  }

  /** @throws if a backup was due and failed */
  async backUpIfDue(): Promise<void> {
    const { folder, everyMs, now, onDone } = this.#options;
    const last = await this.last();
    // A wrong clock may have made a backup in the future.
    if (now() < this.#failed.until || (last && Math.abs(now() - last.at) < everyMs)) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await this.#removePartial();
    const file = join(folder, `${PREFIX}${new Date(now()).toISOString().replaceAll(':', '-')}${SUFFIX}`);
    try {
      await this.#run(file);
      this.#failed = { attempts: 0, until: 0 };
    } catch (error) {
      // A damaged store cannot be copied until somebody repairs it, and each attempt reads all of it.
      const { attempts } = this.#failed;
      this.#failed = { attempts: attempts + 1, until: now() + Math.min(everyMs, LOOK_EVERY_MS * 2 ** attempts) };
      throw error;
    }
    await this.#removeOld(file);
    const made = (await this.#list()).find((one) => one.file === file);
    if (made) onDone(made);
  }

  async #run(file: string): Promise<void> {
    const { program, variables } = this.#options;
    const child = spawn(process.execPath, [program, 'backup', file, '--scheduled'], {
      env: variables,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    let reason = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      reason += text;
    });
    const [code, signal] = await once(child, 'close');
    this.#child = undefined;
    if (code !== 0) throw new Error(`the backup ${file} failed (${code ?? signal}): ${reason.trim()}`);
  }

  /** Lists the backups that the schedule made, oldest first. Others may have backups and copies in the same folder. */
  async #list(): Promise<LastBackup[]> {
    const { folder } = this.#options;
    const names = existsSync(folder) ? await readdir(folder) : [];
    const backups: LastBackup[] = [];
    for (const name of names) {
      if (!OWN_NAME.test(name)) continue;
      const file = join(folder, name);
      const manifest = await readManifest(file).catch(() => undefined);
      if (manifest?.isScheduled) backups.push({ file, at: Date.parse(manifest.at), bytes: manifest.bytes });
    }
    return backups.sort((one, other) => one.at - other.at);
  }

  /** Keeps the new backup, whatever the times of the others are. */
  async #removeOld(made: string): Promise<void> {
    const others = (await this.#list()).filter(({ file }) => file !== made);
    for (const { file } of others.slice(0, Math.max(0, others.length - (this.#options.keep - 1)))) {
      // The manifest is removed last, because a backup without one cannot be restored.
      await rm(file, { force: true });
      await rm(manifestOf(file), { force: true });
    }
  }

  /** Removes the files that a killed process of the schedule left behind. */
  async #removePartial(): Promise<void> {
    const { folder } = this.#options;
    for (const name of await readdir(folder)) {
      const [, whole] = OWN_PART.exec(name) ?? [];
      const isManifest = whole !== undefined && name === manifestOf(whole);
      if (whole === undefined || (isManifest && existsSync(join(folder, whole)))) continue;
      await rm(join(folder, name), { force: true });
    }
  }
}

const PREFIX = 'session-capture-';
const SUFFIX = '.sqlite';
const OWN_FORM = 'session-capture-\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d\\.\\d{3}Z\\.sqlite';
/** The name of a backup of the schedule, and of a file that exists while it is made. */
const OWN_NAME = new RegExp(`^${OWN_FORM}$`);
const OWN_PART = new RegExp(`^(${OWN_FORM})\\.(?:part|part-journal|json|json\\.part)$`);
