import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How to run a program so that its fsyncs fail from one on. */
export interface FailingDisk {
  /** Before the program. */
  command: string[];
  variables: Record<string, string>;
}

/** Every fsync from the given one on fails: under strace, or by a library in front of the system's. */
export function failFsyncs(folder: string, from: number): FailingDisk | undefined {
  if (works('strace', ['-f', '-o', '/dev/null', '-e', 'trace=fsync', 'true'])) {
    const inject = `inject=fsync,fdatasync:error=EIO:when=${from}+`;
    const command = ['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync', '-e', inject];
    return { command, variables: {} };
  }
  const library = join(folder, 'fsync.so');
  writeFileSync(`${library}.c`, LIBRARY);
  if (!works('cc', ['-shared', '-fPIC', '-o', library, `${library}.c`, '-ldl'])) return undefined;
  return { command: [], variables: { LD_PRELOAD: library, FAIL_FSYNC_FROM: String(from) } };
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
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int count;

static int sync_or_fail(const char *name, int file) {
  if (atomic_fetch_add(&count, 1) + 1 >= atoi(getenv("FAIL_FSYNC_FROM"))) { errno = EIO; return -1; }
  return ((int (*)(int)) dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return sync_or_fail("fsync", file); }
int fdatasync(int file) { return sync_or_fail("fdatasync", file); }
`;
