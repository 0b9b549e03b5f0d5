import { execFileSync } from 'node:child_process';
import { isBuilt } from '../../../script/is-built.ts';
import { REPOSITORY } from './folders.ts';

/** Runs once before all tests, which run in parallel. */
export default function build(): void {
  buildDashboard();
  buildDownloads();
}

/** Builds the dashboard if there is no build or if its sources are newer. */
export function buildDashboard(): void {
  if (isBuilt('dashboard/dist/index.html', ['dashboard'])) return;
  // The environment of the test runner would build the slow development version of React.
  const env = { ...process.env, NODE_ENV: 'production' };
  execFileSync('npm', ['run', 'build', '--workspace', 'dashboard'], { cwd: REPOSITORY, stdio: 'pipe', env });
}

/** Builds the files that machines download from the service in the same way. */
function buildDownloads(): void {
  if (isBuilt('dist/download/install/SHA256SUMS', ['cli', 'script/release', 'script/build-download.ts'])) return;
  execFileSync(process.execPath, ['script/build-download.ts'], { cwd: REPOSITORY, stdio: 'pipe' });
}
