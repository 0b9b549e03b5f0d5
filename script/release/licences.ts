import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { readManifest } from './bundle.ts';

/** The licences of the packages that the bundled files come from, as their authors ask for with every copy. */
export function collectLicences(modules: readonly string[]): string {
  const folders = [...new Set(modules.flatMap((path) => packageOf(path) ?? []))].sort();
  return folders.map(licenceOf).join(`\n${'-'.repeat(80)}\n\n`);
}

/** The folder of the package that a file belongs to; none for files of this repository. */
function packageOf(path: string): string | undefined {
  const parts = path.split(sep);
  const start = parts.lastIndexOf('node_modules') + 1;
  if (start === 0) return undefined;
  return parts.slice(0, start + (parts[start]?.startsWith('@') ? 2 : 1)).join(sep);
}

function licenceOf(folder: string): string {
  const { name, version, license } = readManifest(folder);
  const [file] = globSync('{LICENSE,License,license,LICENCE,licence}*', { cwd: folder });
  if (file === undefined || !existsSync(join(folder, file))) throw new Error(`${name} has no file with its licence`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
