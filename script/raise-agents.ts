import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Updates the agents that tests run to the newest versions in npm's registry that can be installed here:
 *
 *     node script/raise-agents.ts && script/test --agents
 */
const LIST = join(import.meta.dirname, '../cli/test/agents/agents.json');
/** How many of the newest versions to try; the registry may lack packages that the newest ones need. */
const TRIES = 8;

const list = JSON.parse(readFileSync(LIST, 'utf8')) as { dependencies: { [name: string]: string } };
for (const [name, version] of Object.entries(list.dependencies)) {
  const newest = findNewest(name);
  if (newest === undefined)
    console.log(`${name}: none of the ${TRIES} newest versions can be installed; it stays at ${version}`);
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
