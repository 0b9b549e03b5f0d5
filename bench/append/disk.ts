import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A disk to measure on: its name, and the variables with which programs use it. */
export interface Disk {
  name: string;
  env: Record<string, string>;
}

const DELAY_MS = 2;

/** Replaces the system's fsync by one with the delay of a cloud disk. */
const SHIM = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
static int after_a_while(const char *name, int file) {
  struct timespec delay = {0, ${DELAY_MS}000000};
  nanosleep(&delay, 0);
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}
int fsync(int file) { return after_a_while("fsync", file); }
int fdatasync(int file) { return after_a_while("fdatasync", file); }
`;

export const THIS_DISK: Disk = { name: 'this disk', env: {} };

/** The same disk with a delay of 2 ms for every sync; undefined without a C compiler. */
export function slowDisk(folder: string): Disk | undefined {
  const [source, library] = [join(folder, 'slow-disk.c'), join(folder, 'slow-disk.so')];
  writeFileSync(source, SHIM);
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'], { stdio: 'ignore' });
  return status === 0 ? { name: `fsync + ${DELAY_MS} ms`, env: { LD_PRELOAD: library } } : undefined;
}

const SYNCS = fileURLToPath(new URL('./syncs.ts', import.meta.url));

/** Median time of an fdatasync of 4 KiB in the folder, in ms. */
export function syncTime(folder: string, { env }: Disk): number {
  const options = { encoding: 'utf8', env: { PATH: process.env.PATH ?? '', ...env } } as const;
  return Number(execFileSync(process.execPath, [SYNCS, folder], options));
}
