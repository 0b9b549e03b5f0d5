import { dirname, normalize } from 'node:path';
import { sourceFiles } from './files.ts';

/** Imports of a workspace's folders, and of the files beside them, run one way: none leads back to where it began. */
const imports = new Map<string, Map<string, string>>();

for (const { path, text } of sourceFiles()) {
  if (/\.test\.tsx?$|\/(test|e2e)\//.test(path)) continue;
  for (const [, target = ''] of text.matchAll(/^(?:import|export|\}) .*?from '(\.[^']+)';$/gm)) {
    const imported = normalize(`${dirname(path)}/${target}`);
    const [from, to] = [folderOf(path), folderOf(imported)];
    if (from === undefined || to === undefined || from === to) continue;
    const known = imports.get(from) ?? imports.set(from, new Map()).get(from);
    known?.set(to, `${path} imports ${imported}`);
  }
}

/** `cli/read` of `cli/read/stored/stream.ts`, and `cli/account.ts` of itself. */
function folderOf(path: string): string | undefined {
  return /^(?:cli|server|dashboard|contract)\/[^/]+/.exec(path)?.[0];
}

const done = new Set<string>();
const circles: string[][] = [];

function walk(folder: string, way: readonly string[]): void {
  const begun = way.indexOf(folder);
  if (begun !== -1) circles.push([...way.slice(begun), folder]);
  if (begun !== -1 || done.has(folder)) return;
  for (const next of imports.get(folder)?.keys() ?? []) walk(next, [...way, folder]);
  done.add(folder);
}

for (const folder of imports.keys()) walk(folder, []);
for (const circle of circles) {
  console.error(`These import each other in a circle: ${circle.join(' → ')}`);
  for (const [at, folder] of circle.slice(0, -1).entries()) {
    console.error(`  ${imports.get(folder)?.get(circle[at + 1] ?? '')}`);
  }
}
process.exitCode = circles.length > 0 ? 1 : 0;
