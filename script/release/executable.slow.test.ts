import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../cli/test/folder.ts';
import { bundleProgram, ROOT, readManifest } from './bundle.ts';
import { makeExecutable } from './executable.ts';
import { findNode } from './node.ts';
import { expectCapture, run } from './program.ts';
import { isHost, TARGETS } from './targets.ts';

test('the executable signs in and captures on a machine without Node', async () => {
  const target = TARGETS.find(isHost);
  if (target === undefined) throw new Error(`no executable is made for ${process.platform} on ${process.arch}`);
  const folder = makeFolder();
  const bundle = join(folder, 'capture.js');
  const executable = join(folder, 'capture');
  writeFileSync(bundle, (await bundleProgram()).code);
  makeExecutable({ target, node: findNode(target, folder), bundle }, executable);

  const { version } = readManifest(join(ROOT, 'cli'));
  const env = { PATH: '/nonexistent' };
  expect(await run([executable, '--version'], env)).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  await expectCapture([executable], env);
}, 120_000);
