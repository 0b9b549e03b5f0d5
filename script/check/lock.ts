import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;
type Package = Partial<Record<(typeof KINDS)[number], Record<string, string>>> & { resolved?: string };

const read = <Content>(path: string) => JSON.parse(readFileSync(path, 'utf8')) as Content;

const { packages } = read<{ packages: Record<string, Package> }>('package-lock.json');
const entries = Object.entries(packages);
const isOurs = (path: string) => !path.includes('node_modules/');

const stale = entries
  .filter(([path]) => isOurs(path))
  .filter(([path, locked]) => {
    const wanted = read<Package>(join(path, 'package.json'));
    return KINDS.some((kind) => !isDeepStrictEqual(wanted[kind] ?? {}, locked[kind] ?? {}));
  })
  .map(([path]) => `${join(path, 'package.json')} and the lock file have different packages. Run: npm install`);
const bound = entries
  .filter(([, { resolved }]) => resolved?.startsWith('http'))
  .map(([path]) => `${path} is bound to the host of a registry. Install with the .npmrc of this repository.`);

const problems = [...stale, ...bound];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
