import { dirname, normalize } from 'node:path';
import { sourceFiles } from './files.ts';

/** Checks that imports between workspaces have no cycles, and neither have imports between their folders and files. */
const files = new Map<string, Map<string, string>>();
const folders = new Map<string, Map<string, string>>();
const workspaces = new Map<string, Map<string, string>>();

for (const { path, text } of sourceFiles()) {
  if (/\.test\.tsx?$|\/(test|e2e)\//.test(path)) continue;
  for (const [, target = ''] of text.matchAll(/^(?:import|export|\}) .*?from '(\.[^']+)';$/gm)) {
    const imported = normalize(`${dirname(path)}/${target}`);
    const fact = `${path} imports ${imported}`;
    note(files, path, imported, fact);
    const [from, to] = [folderOf(path), folderOf(imported)];
    if (from === undefined || to === undefined || from === to) continue;
    note(folders, from, to, fact);
    const [workspace = '', other = ''] = [from.split('/')[0], to.split('/')[0]];
    if (workspace !== other) note(workspaces, workspace, other, fact);
  }
}

function note(imports: typeof files, from: string, to: string, fact: string): void {
  const known = imports.get(from) ?? imports.set(from, new Map()).get(from);
  known?.set(to, fact);
}

/** The folder of a file: `cli/read` for `cli/read/stored/stream.ts`, and `cli/account.ts` for itself. */
function folderOf(path: string): string | undefined {
  return /^(?:cli|server|dashboard|contract|transcript|redact)\/[^/]+/.exec(path)?.[0];
}

function circlesIn(imports: typeof files): string[][] {
  const done = new Set<string>();
  const circles: string[][] = [];
  const walk = (place: string, way: readonly string[]) => {
    const begun = way.indexOf(place);
    if (begun !== -1) circles.push([...way.slice(begun), place]);
    if (begun !== -1 || done.has(place)) return;
    for (const next of imports.get(place)?.keys() ?? []) walk(next, [...way, place]);
    done.add(place);
  };
  for (const place of imports.keys()) walk(place, []);
  return circles;
}

for (const imports of [workspaces, folders, files]) {
  for (const circle of circlesIn(imports)) {
    console.error(`These imports form a cycle: ${circle.join(' → ')}`);
    for (const [at, place] of circle.slice(0, -1).entries()) {
      console.error(`  ${imports.get(place)?.get(circle[at + 1] ?? '')}`);
    }
    process.exitCode = 1;
  }
}
