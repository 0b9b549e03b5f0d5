import { globSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The clock of programs that are started with `variables`; how long something takes they measure right all the same. */
export interface Clock {
  variables: Record<string, string>;
  /** Sets it that many seconds ahead of the right time, or behind it. */
  step(seconds: number): void;
}

/** Where Debian has it, or where `script/setup.sh` unpacks it. */
const LIBRARY = '{/usr/lib,artefacts/faketime/usr/lib}/*/faketime/libfaketimeMT.so.1';

/** Undefined where there is no libfaketime. */
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

/** The environment for several libraries in front of the system's. */
export const together = (...given: (Record<string, string> | undefined)[]): Record<string, string> => ({
  ...Object.assign({}, ...given),
  ...(given.some((one) => one?.LD_PRELOAD) && {
    LD_PRELOAD: given.flatMap((one) => one?.LD_PRELOAD ?? []).join(':'),
  }),
});
