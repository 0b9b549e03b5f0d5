import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from './folders.ts';

const NO_SOURCE = /^(dist|e2e|node_modules|test)\b/;

/** Runs once before all tests, which run in parallel. */
export default function build(): void {
  buildDashboard();
  buildDownloads();
}

/** Builds the dashboard if there is no build or if its sources are newer. */
export function buildDashboard(): void {
  if (isBuilt('dashboard/dist/index.html', ['dashboard', 'contract', 'transcript'])) return;
  // The environment of the test runner would build the slow development version of React.
  const env = { ...process.env, NODE_ENV: 'production' };
  execFileSync('npm', ['run', 'build', '--workspace', 'dashboard'], { cwd: REPOSITORY, stdio: 'pipe', env });
}

/** Builds the files that machines download from the service in the same way. */
function buildDownloads(): void {
  if (isBuilt('dist/download/install/SHA256SUMS', ['cli', 'contract', 'transcript', 'script/release'])) return;
  execFileSync(process.execPath, ['script/build-download.ts'], { cwd: REPOSITORY, stdio: 'pipe' });
}

function isBuilt(made: string, sources: readonly string[]): boolean {
  const path = join(REPOSITORY, made);
  return existsSync(path) && statSync(path).mtimeMs > newestOf(sources);
}

function newestOf(folders: readonly string[]): number {
  const sources = folders.flatMap((name) => {
    const folder = join(REPOSITORY, name);
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => !NO_SOURCE.test(path))
      .map((path) => statSync(join(folder, path)))
      .filter((entry) => entry.isFile())
      .map((entry) => entry.mtimeMs);
  });
  return Math.max(...sources);
}
