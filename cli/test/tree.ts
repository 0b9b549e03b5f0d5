import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Every file below a folder by its path, with its mode and bytes, to prove that nothing changed. */
export function readTree(folder: string, below = ''): { [path: string]: string } {
  const entries = readdirSync(join(folder, below), { withFileTypes: true }).map((entry) => {
    const path = join(below, entry.name);
    const absolute = join(folder, path);
    const mode = (lstatSync(absolute).mode & 0o777).toString(8);
    if (entry.isDirectory()) return { [path]: `folder ${mode}`, ...readTree(folder, path) };
    if (entry.isSymbolicLink()) return { [path]: `link ${readlinkSync(absolute)}` };
    return { [path]: `${mode} ${readFileSync(absolute, 'base64')}` };
  });
  return Object.assign({}, ...entries) as { [path: string]: string };
}
