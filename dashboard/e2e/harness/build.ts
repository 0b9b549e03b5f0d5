import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DASHBOARD, REPOSITORY } from './folders.ts';

const BUILT = join(DASHBOARD, 'dist', 'index.html');
const NO_SOURCE = /^(dist|e2e|node_modules)\b/;

/** Builds the dashboard where there is no build, or one of older sources. */
export function buildDashboard(): void {
  if (existsSync(BUILT) && statSync(BUILT).mtimeMs > newestSource()) return;
  execFileSync('npm', ['run', 'build', '--workspace', 'dashboard'], { cwd: REPOSITORY, stdio: 'pipe' });
}

function newestSource(): number {
  const sources = [DASHBOARD, join(REPOSITORY, 'contract')].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => !NO_SOURCE.test(path))
      .map((path) => statSync(join(folder, path)))
      .filter((entry) => entry.isFile())
      .map((entry) => entry.mtimeMs),
  );
  return Math.max(...sources);
}
