import { globSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A clock for programs started with `variables`. It changes their wall clock; their monotonic clock stays right. */
export interface Clock {
  variables: Record<string, string>;
  /** Sets the clock this many seconds ahead of the right time, or behind it if negative. */
  step(seconds: number): void;
}

/** Where Debian installs the library, or where `script/setup.sh` unpacks it. */
const LIBRARY = '{/usr/lib,artefacts/faketime/usr/lib}/*/faketime/libfaketimeMT.so.1';

/** Undefined if libfaketime is missing. */
export function createClock(): Clock | undefined {
  const [found] = globSync(LIBRARY, { cwd: join(import.meta.dirname, '..') });
  if (found === undefined) return undefined;
  const file = join(mkdtempSync(join(tmpdir(), 'capture-clock-')), 'step');
  const step = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  step(0);
  return {
    step,
    variables: {
      LD_PRELOAD: join(import.meta.dirname, '..', found),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  };
}

/** Merges environments, so that all their libraries are preloaded. */
export const together = (...given: (Record<string, string> | undefined)[]): Record<string, string> => ({
  ...Object.assign({}, ...given),
  ...(given.some((one) => one?.LD_PRELOAD) && {
    LD_PRELOAD: given.flatMap((one) => one?.LD_PRELOAD ?? []).join(':'),
  }),
});
