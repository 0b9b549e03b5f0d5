// Exits with 0 if node_modules has the packages of the lock file. This is plain JavaScript without packages, since it runs
// before anything is installed, with any version of Node.
import { existsSync, readFileSync } from 'node:fs';

const read = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined);

const wanted = read('package-lock.json') ?? {};
const installed = read('node_modules/.package-lock.json');

/** Skips links to workspaces, since imports use their paths. */
const isPackage = (path) =>
  (path.startsWith('node_modules/') || path.includes('/node_modules/')) && wanted[path].link !== true;
/** Accepts a missing optional package, since npm leaves out packages for other platforms. */
const matches = (path) =>
  installed[path] === undefined
    ? wanted[path].optional || wanted[path].devOptional
    : installed[path].version === wanted[path].version && existsSync(path);

process.exitCode = installed && Object.keys(wanted).filter(isPackage).every(matches) ? 0 : 1;
