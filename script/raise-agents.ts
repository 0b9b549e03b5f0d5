import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Raises the agents that tests run to the newest versions that install here, as the registry that npm is set to has them:
 *
 *     node script/raise-agents.ts && script/test --agents
 */
const LIST = join(import.meta.dirname, '../cli/test/agents/agents.json');
/** How many versions are tried of an agent whose newest ones name packages that the registry lacks. */
const TRIES = 8;

const list = JSON.parse(readFileSync(LIST, 'utf8')) as { dependencies: { [name: string]: string } };
for (const [name, version] of Object.entries(list.dependencies)) {
  const newest = findNewest(name);
  if (newest === undefined) console.log(`${name}: none of the ${TRIES} newest versions installs; stays at ${version}`);
  else if (newest !== version) console.log(`${name}: ${version} → ${newest}`);
  list.dependencies[name] = newest ?? version;
}
writeFileSync(LIST, `${JSON.stringify(list, undefined, 2)}\n`);

function findNewest(name: string): string | undefined {
  const versions = JSON.parse(npm('view', name, 'versions', '--json')) as string[];
  const stable = versions.filter((version) => /^\d+\.\d+\.\d+$/.test(version));
  const newest = stable.sort((one, other) => other.localeCompare(one, 'en', { numeric: true })).slice(0, TRIES);
  return newest.find((version) => installs(`${name}@${version}`));
}

function installs(spec: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'raise-agents-'));
  try {
    npm('install', '--prefix', folder, '--dry-run', '--ignore-scripts', '--no-audit', '--no-fund', spec);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function npm(...args: string[]): string {
  return execFileSync('npm', [...args, '--loglevel=error'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}
