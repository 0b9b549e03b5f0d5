import { expect, test } from 'vitest';
import { byAge, isPreview, isRelease } from './agent-versions.ts';

test('the newest version of an agent comes first, and a release before its previews', () => {
  const versions = [
    '0.61.0-nightly.20260909.ged2ac40df',
    '1.0.9',
    '0.61.0',
    '1.0.84-4',
    '1.0.84-11',
    '1.0.84',
    '1.0.102',
  ];
  expect(versions.sort(byAge)).toEqual([
    '1.0.102',
    '1.0.84',
    '1.0.84-11',
    '1.0.84-4',
    '1.0.9',
    '0.61.0',
    '0.61.0-nightly.20260909.ged2ac40df',
  ]);
});

test.each<[string, 'release' | 'preview' | 'neither']>([
  ['0.171.0', 'release'],
  ['0.171.0-linux-x64', 'neither'],
  ['0.171.0-alpha.3', 'preview'],
  ['1.0.84-4', 'preview'],
  ['0.23.5-preview.0', 'preview'],
])('the version %s of an agent is a %s', (version, kind) => {
  expect([isRelease(version), isPreview(version)]).toEqual([kind === 'release', kind === 'preview']);
});
