import { dirname, normalize } from 'node:path';
import { sourceFiles } from './files.ts';

/**
 * Checks that imports between workspaces have no cycles, and neither have imports between their folders and files. A feature of the
 * dashboard imports no other feature, so that it can be changed or removed alone.
 */
const COMMON: ReadonlySet<string> = new Set(['app', 'frame', 'kit', 'shared']);
/** Two more pages that show the events of sessions. */
const BUILT_ON_SESSION: ReadonlySet<string> = new Set(['compare', 'share']);

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
  for (const [, target = ''] of text.matchAll(/(?:from|import)\(? ?'(\.[^']+)'/g)) {
    checkFeature(path, normalize(`${dirname(path)}/${target}`));
  }
}

function checkFeature(path: string, imported: string): void {
  const [from, to] = [featureOf(path), featureOf(imported)];
  if (from === undefined || to === undefined || from === to || COMMON.has(to)) return;
  if (to === 'session' && BUILT_ON_SESSION.has(from)) return;
  console.error(`${path} imports ${imported}: move the part that both features need to dashboard/shared`);
  process.exitCode = 1;
}

function featureOf(path: string): string | undefined {
  return /^dashboard\/([^/]+)\//.exec(path)?.[1];
}

function note(imports: typeof files, from: string, to: string, fact: string): void {
  const known = imports.get(from) ?? imports.set(from, new Map()).get(from);
  known?.set(to, fact);
}

/** The folder of a file: `cli/read` for `cli/read/stored/stream.ts`, and `cli/account.ts` for itself. */
function folderOf(path: string): string | undefined {
  return /^(?:cli|server|dashboard|contract|transcript|redact|test)\/[^/]+/.exec(path)?.[0];
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
