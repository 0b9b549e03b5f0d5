import { join } from 'node:path';
import { ROOT, readManifest } from './bundle.ts';
import { npm } from './node.ts';

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  purl: string;
  [rest: string]: unknown;
}

export interface Sbom {
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
  [rest: string]: unknown;
}

/** The workspaces of the service, its dashboard and the command line. */
const WORKSPACES = ['cli', 'contract', 'dashboard', 'redact', 'server', 'transcript'];

/** Packages that a library uses if they are installed, without declaring them: `debug` colours its lines. */
const TAKEN_ALONG = ['supports-color'];

/**
 * Lists the shipped components in CycloneDX from the lock file alone, so that every machine makes the same list. npm's own
 * `--omit dev` leaves out packages that a workspace ships and the root also uses in tests, such as the driver of PostgreSQL.
 */
export function makeSbom(): Sbom {
  const all = JSON.parse(npm(['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], ROOT)) as Sbom;
  const shipped = findShipped(all);
  const { name, version, license } = readManifest(ROOT);
  return {
    $schema: all.$schema,
    bomFormat: all.bomFormat,
    specVersion: all.specVersion,
    version: 1,
    metadata: {
      component: { 'bom-ref': name, type: 'application', name, version, licenses: [{ license: { id: license } }] },
    },
    components: [
      ...all.components.filter((component) => shipped.has(component['bom-ref'])).map(describe),
      describeNode(),
    ],
    dependencies: [
      { ref: name, dependsOn: WORKSPACES.map((workspace) => refOf(workspace)) },
      ...all.dependencies
        .filter(({ ref }) => shipped.has(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => shipped.has(other)) })),
    ],
  };
}

const refOf = (workspace: string): string => {
  const { name, version } = readManifest(join(ROOT, workspace));
  return `${name}@${version}`;
};

/** The workspaces and all their runtime dependencies. */
function findShipped({ dependencies }: Sbom): Set<string> {
  const needs = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const taken = dependencies.map(({ ref }) => ref).filter((ref) => TAKEN_ALONG.includes(nameOf(ref)));
  const shipped = new Set([...WORKSPACES.map(refOf), ...taken]);
  for (const workspace of WORKSPACES) {
    const { dependencies: own = {} } = readManifest(join(ROOT, workspace));
    const isOwn = (ref: string) => own[nameOf(ref)] !== undefined;
    for (const ref of needs.get(refOf(workspace))?.filter(isOwn) ?? []) shipped.add(ref);
  }
  // The loop also visits the components that it adds.
  for (const ref of shipped) {
    if (WORKSPACES.some((workspace) => refOf(workspace) === ref)) continue;
    for (const needed of needs.get(ref) ?? []) shipped.add(needed);
  }
  return shipped;
}

const nameOf = (ref: string): string => ref.slice(0, ref.lastIndexOf('@'));

/** Restores the name of a workspace, which npm replaces by its folder, and removes the addresses of packages. */
const describe = ({ externalReferences, ...component }: Component): Component => ({
  ...component,
  name: nameOf(component['bom-ref']),
});

/** Node is a part of each executable. */
function describeNode(): Component {
  const version = process.versions.node;
  return {
    'bom-ref': `node@${version}`,
    type: 'platform',
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
  };
}
