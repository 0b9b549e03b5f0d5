import { mkdirSync, rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';

/** The folder for whatever tests leave behind: it goes with the run. */
export default function makeTemporaryFolder({ config }: TestProject): () => void {
  const { TMPDIR = '' } = config.env;
  mkdirSync(TMPDIR, { recursive: true });
  return () => rmSync(TMPDIR, { recursive: true, force: true, maxRetries: 5 });
}
