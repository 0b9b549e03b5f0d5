import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How to run a program so that its fsyncs fail from a given one on. */
export interface FailingDisk {
  /** Words in front of the program. */
  command: string[];
  variables: Record<string, string>;
}

/** Makes every fsync fail from the given one on, with strace or with a library that is loaded before the system's. */
export function failFsyncs(folder: string, from: number): FailingDisk | undefined {
  if (works('strace', ['-f', '-o', '/dev/null', '-e', 'trace=fsync', 'true'])) {
    const inject = `inject=fsync,fdatasync:error=EIO:when=${from}+`;
    const command = ['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync', '-e', inject];
    return { command, variables: {} };
  }
  const library = compile(folder, LIBRARY);
  return library === undefined
    ? undefined
    : { command: [], variables: { LD_PRELOAD: library, FAIL_FSYNC_FROM: String(from) } };
}

/** What happens to every fsync: `omit` reports success without syncing, `delay` takes 20 ms longer. */
export type SyncOrder = 'sync' | 'fail' | 'omit' | 'delay';

/** Programs that are started with `variables` obey the order of the moment. Undefined if there is no C compiler. */
export function orderFsyncs(folder: string) {
  const library = compile(folder, LIBRARY);
  if (library === undefined) return undefined;
  const orders = join(folder, 'fsync-orders');
  const order = (kind: SyncOrder) => writeFileSync(orders, kind);
  order('sync');
  return { order, variables: { LD_PRELOAD: library, FSYNC_ORDERS: orders } };
}

function compile(folder: string, source: string): string | undefined {
  const library = join(folder, 'fsync.so');
  writeFileSync(`${library}.c`, source);
  return works('cc', ['-shared', '-fPIC', '-o', library, `${library}.c`, '-ldl']) ? library : undefined;
}

function works(program: string, words: readonly string[]): boolean {
  try {
    execFileSync(program, words, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const LIBRARY = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int count;

static char order(void) {
  const char *path = getenv("FSYNC_ORDERS");
  char first = 's';
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file >= 0) { if (read(file, &first, 1) < 1) first = 's'; close(file); }
  return first;
}

static int sync_or_fail(const char *name, int file) {
  const char *from = getenv("FAIL_FSYNC_FROM");
  if (from && atomic_fetch_add(&count, 1) + 1 >= atoi(from)) { errno = EIO; return -1; }
  switch (order()) {
    case 'f': errno = EIO; return -1;
    case 'o': return 0;
    case 'd': usleep(20000);
  }
  return ((int (*)(int)) dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return sync_or_fail("fsync", file); }
int fdatasync(int file) { return sync_or_fail("fdatasync", file); }
`;
