import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { readManifest } from './bundle.ts';

/** The licences of the bundled packages, which must accompany every copy. */
export function collectLicences(modules: readonly string[]): string {
  const folders = [...new Set(modules.flatMap((path) => packageOf(path) ?? []))].sort();
  return folders.map(licenceOf).join(`\n${'-'.repeat(80)}\n\n`);
}

/** The package folder of a file; undefined for files of this repository. */
export function packageOf(path: string): string | undefined {
  const parts = path.split(sep);
  const start = parts.lastIndexOf('node_modules') + 1;
  if (start === 0) return undefined;
  return parts.slice(0, start + (parts[start]?.startsWith('@') ? 2 : 1)).join(sep);
}

function licenceOf(folder: string): string {
  const { name, version, license, author } = readManifest(folder);
  const [file] = globSync('{LICENSE,License,license,LICENCE,licence}*', { cwd: folder });
  const isThere = file !== undefined && existsSync(join(folder, file));
  if (!isThere && (license !== 'MIT' || !author)) throw new Error(`${name} has no file with its licence`);
  const text = isThere ? readFileSync(join(folder, file), 'utf8').trim() : `Copyright (c) ${author}\n\n${MIT}`;
  return `${name} ${version} (${license})\n\n${text}\n`;
}

/** The text of the MIT licence, for packages that only name it: https://opensource.org/license/mit */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
