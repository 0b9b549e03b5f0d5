import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../cli/test/folder.ts';
import { bundleProgram, readManifest } from './bundle.ts';
import { packageOf } from './licences.ts';
import { makeSbom } from './sbom.ts';
import { makeService } from './service.ts';

/** Name and version of each package with one of these files. */
const packagesOf = (modules: readonly string[]): string[] =>
  [...new Set(modules.flatMap((path) => packageOf(path) ?? []))]
    .map(readManifest)
    .map(({ name, version }) => `${name}@${version}`);

test('the list of components names every package of the command line and of the service', async () => {
  const listed = makeSbom().components.map(({ name, version }) => `${name}@${version}`);
  const ofProgram = packagesOf((await bundleProgram()).modules);
  const ofService = packagesOf((await makeService(join(makeFolder(), 'service'))).modules);
  expect(ofProgram.map((ref) => ref.split('@')[0])).toContain('commander');
  expect(ofService.map((ref) => ref.split('@')[0])).toEqual(expect.arrayContaining(['fastify', 'pg', 'kysely']));
  expect([...ofProgram, ...ofService].filter((ref) => !listed.includes(ref))).toEqual([]);
}, 60_000);

test('the list of components contains neither test tools nor addresses of registries', () => {
  const { components, dependencies, ...rest } = makeSbom();
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['@session-capture/server', 'pg', 'react', 'node']));
  for (const tool of ['vitest', 'playwright', 'cognito-local', 'typescript']) expect(names).not.toContain(tool);
  expect(rest).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
  expect(JSON.stringify([components, dependencies])).not.toMatch(/https?:/);
  const refs = new Set([...components.map((component) => component['bom-ref']), 'session-capture']);
  expect(dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref))).toEqual([]);
});
