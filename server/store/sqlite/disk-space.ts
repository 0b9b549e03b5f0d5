import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1024 * 1024;
/** The log of the embedded store and the file itself may each need 16 MiB until the log starts again. */
const RESERVE: ReserveSizes = { bytes: 48 * MIB, lowBytes: 16 * MIB };
const LOOK_EVERY_MS = 5_000;
/** A process that ends soon writes no reserve. */
const FIRST_RESERVE_MS = 30_000;

export interface ReserveSizes {
  /** The size of the reserve. */
  bytes: number;
  /** The disk counts as full if less than this is free. */
  lowBytes: number;
  /** When the first reserve is written, in milliseconds after the start. */
  afterMs?: number;
}

export interface DiskSpaceOptions {
  sizes?: ReserveSizes | undefined;
  /** Called when the disk becomes full, and when there is enough space again. */
  onChange?: ((isFull: boolean) => void) | undefined;
}

/**
 * Keeps a file beside the store that only takes up space, and removes it when the disk is full. The freed space is for everything
 * except appends: the process can start, people can read and sign in, and sessions can be deleted to make room.
 *
 * | the disk | when                                                 | becomes                       |
 * | -------- | ---------------------------------------------------- | ----------------------------- |
 * | roomy    | little is free, or a write has failed for lack of space | full; the reserve is removed  |
 * | –        | the process starts without a reserve or room for one | full                          |
 * | full     | there is room for the reserve and as much again as low | roomy; the reserve is written |
 */
export class DiskSpace {
  readonly #folder: string;
  readonly #options: DiskSpaceOptions & { sizes: ReserveSizes };
  readonly #path: string;
  readonly #timers: NodeJS.Timeout[];
  #isFull = false;

  /** Frees the reserve at once if the disk is full, so that the store can be opened. */
  constructor(folder: string, options: DiskSpaceOptions) {
    this.#folder = folder;
    this.#options = { ...options, sizes: options.sizes ?? RESERVE };
    this.#path = join(folder, 'reserve');
    if (this.#isLow()) this.noteFull();
    const { afterMs = FIRST_RESERVE_MS } = this.#options.sizes;
    this.#timers = [
      setTimeout(() => this.#look(), afterMs).unref(),
      setInterval(() => this.#look(), LOOK_EVERY_MS).unref(),
    ];
  }

  /** Whether appends must be refused. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Called when a write has failed for lack of space. */
  noteFull(): void {
    rmSync(this.#path, { force: true });
    if (this.#isFull) return;
    this.#isFull = true;
    this.#options.onChange?.(true);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #look(): void {
    const { bytes, lowBytes } = this.#options.sizes;
    if (this.#isLow()) {
      this.noteFull();
      return;
    }
    if (existsSync(this.#path) || this.#free() < bytes + 2 * lowBytes || !this.#write(bytes)) return;
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#options.onChange?.(false);
  }

  /** @returns false if the space was taken meanwhile */
  #write(bytes: number): boolean {
    let file: number | undefined;
    try {
      file = openSync(this.#path, 'w', 0o600);
      // Some file systems do not store zeros.
      const some = Buffer.alloc(MIB, 'reserve ');
      for (let left = bytes; left > 0; left -= some.length) writeSync(file, some, 0, Math.min(left, some.length));
      fsyncSync(file);
      return true;
    } catch {
      rmSync(this.#path, { force: true });
      return false;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /** Without a reserve, an earlier process has freed it, and what it freed is not for appends. */
  #isLow(): boolean {
    const { bytes, lowBytes } = this.#options.sizes;
    return this.#free() < lowBytes + (existsSync(this.#path) ? 0 : bytes);
  }

  #free(): number {
    try {
      const { bavail, bsize } = statfsSync(this.#folder);
      return bavail * bsize;
    } catch {
      // A network file system may be away for a while. A write then fails with its own error.
      return Number.POSITIVE_INFINITY;
    }
  }
}
