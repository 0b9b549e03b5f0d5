import { expect, test } from 'vitest';
import { CONTINUED_AGENTS } from '../../../contract/catalog.ts';
import { AGENTS } from '../../agents/all.ts';

test('pages offer to continue the sessions of exactly the agents that can', () => {
  const able = AGENTS.filter(({ continuation }) => continuation !== undefined).map(({ id }) => id);
  expect(new Set(able)).toEqual(CONTINUED_AGENTS);
});
