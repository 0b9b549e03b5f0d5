// Tells by its exit code whether node_modules holds what the lock file asks for. Plain JavaScript without packages: it
// runs before anything is installed, on whichever Node is there.
import { existsSync, readFileSync } from 'node:fs';

const read = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined);

const wanted = read('package-lock.json') ?? {};
const installed = read('node_modules/.package-lock.json');

/** Workspaces are imported by their path: the links to them are not needed. */
const isPackage = (path) =>
  (path.startsWith('node_modules/') || path.includes('/node_modules/')) && wanted[path].link !== true;
/** An optional package may be meant for another platform; then npm leaves it out. */
const matches = (path) =>
  installed[path] === undefined
    ? wanted[path].optional || wanted[path].devOptional
    : installed[path].version === wanted[path].version && existsSync(path);

process.exitCode = installed && Object.keys(wanted).filter(isPackage).every(matches) ? 0 : 1;
