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

/**
 * What happens to every fsync: `omit` reports success without syncing, `delay` takes 20 ms longer. `gone` also fails each read of
 * the embedded store. `next` fails a single read in each process.
 */
export type DiskOrder = 'sync' | 'fail' | 'omit' | 'delay' | 'gone' | 'next';

/** Programs that are started with `variables` obey the order of the moment. Undefined if there is no C compiler. */
export function orderDisk(folder: string) {
  const library = compile(folder, LIBRARY);
  if (library === undefined) return undefined;
  const orders = join(folder, 'disk-orders');
  const order = (kind: DiskOrder) => writeFileSync(orders, kind);
  order('sync');
  return { order, variables: { LD_PRELOAD: library, DISK_ORDERS: orders } };
}

function compile(folder: string, source: string): string | undefined {
  const library = join(folder, 'disk.so');
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int count;
static atomic_flag has_failed = ATOMIC_FLAG_INIT;

static ssize_t read_disk(int file, void *into, size_t size) {
  return ((ssize_t (*)(int, void *, size_t)) dlsym(RTLD_NEXT, "read"))(file, into, size);
}

static char order(void) {
  const char *path = getenv("DISK_ORDERS");
  char first = 's';
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file >= 0) { if (read_disk(file, &first, 1) < 1) first = 's'; close(file); }
  return first;
}

static int sync_or_fail(const char *name, int file) {
  const char *from = getenv("FAIL_FSYNC_FROM");
  if (from && atomic_fetch_add(&count, 1) + 1 >= atoi(from)) { errno = EIO; return -1; }
  switch (order()) {
    case 'f': case 'g': errno = EIO; return -1;
    case 'o': return 0;
    case 'd': usleep(20000);
  }
  return ((int (*)(int)) dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return sync_or_fail("fsync", file); }
int fdatasync(int file) { return sync_or_fail("fdatasync", file); }

static int is_of_store(int file) {
  char link[32], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "/session-capture.sqlite") != NULL;
}

static int fails_read(int file) {
  if (!getenv("DISK_ORDERS") || !is_of_store(file)) return 0;
  char kind = order();
  return kind == 'g' || (kind == 'n' && !atomic_flag_test_and_set(&has_failed));
}

ssize_t read(int file, void *into, size_t size) {
  if (fails_read(file)) { errno = EIO; return -1; }
  return read_disk(file, into, size);
}

ssize_t pread64(int file, void *into, size_t size, off64_t at) {
  if (fails_read(file)) { errno = EIO; return -1; }
  return ((ssize_t (*)(int, void *, size_t, off64_t)) dlsym(RTLD_NEXT, "pread64"))(file, into, size, at);
}
`;
