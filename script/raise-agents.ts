import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { byAge, isPreview, isRelease } from './agent-versions.ts';

/**
 * Updates the agents that tests run to the newest versions in npm's registry that can be installed here:
 *
 *     node script/raise-agents.ts && UPDATE_MATRIX=1 script/test --agents
 *
 * `raise-agents.ts latest|beta FILE` writes them into another list instead; `beta` also considers previews.
 */
const LIST = join(import.meta.dirname, '../cli/test/agents/agents.json');
/** How many of the newest versions to try; the registry may lack packages that the newest ones need. */
const TRIES = 8;
/** An older version, which a test runs beside the newest one. */
const OLDER = 'pi-older';

const [channel = 'latest', target = LIST] = process.argv.slice(2);
const list = JSON.parse(readFileSync(LIST, 'utf8')) as { dependencies: { [name: string]: string } };
for (const [name, version] of Object.entries(list.dependencies)) {
  if (name === OLDER) continue;
  const newest = findNewest(name);
  if (newest === undefined)
    console.log(`${name}: none of the ${TRIES} newest versions can be installed; it stays at ${version}`);
  else if (newest !== version) console.log(`${name}: ${version} → ${newest}`);
  list.dependencies[name] = newest ?? version;
}
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, `${JSON.stringify(list, undefined, 2)}\n`);

function findNewest(name: string): string | undefined {
  const versions = JSON.parse(npm('view', name, 'versions', '--json')) as string[];
  const wanted = versions.filter((version) => isRelease(version) || (channel === 'beta' && isPreview(version)));
  const newest = wanted.sort(byAge).slice(0, TRIES);
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
