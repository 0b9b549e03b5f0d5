import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import { explainChange, featuresOf, readTested, type Tested } from './features.ts';

const BEFORE: Tested = {
  version: '1.0.0',
  features: ['prompts', 'tokens', 'live'],
  records: ['message user', 'token_count'],
  unread: ['task_started'],
};

test('a version of an agent that no longer shows a feature is named, with the types of records that changed', () => {
  const now: Tested = {
    ...BEFORE,
    version: '1.1.0',
    features: ['prompts', 'live'],
    records: ['message user', 'spent'],
  };
  expect(explainChange('codex', BEFORE, now)).toEqual([
    'codex 1.1.0: no tokens, unlike 1.0.0. New types of records: spent. Types that are gone: token_count',
  ]);
});

test('a type of record that no reader knows is named, unless the matrix or a sample has it', () => {
  const now: Tested = {
    ...BEFORE,
    version: '1.1.0',
    unread: ['task_started', 'duplicate:user_message', 'from_now_on'],
  };
  expect(explainChange('codex', BEFORE, now)).toEqual(['codex 1.1.0: no reader knows the record from_now_on']);
});

test('a version that shows more than before changes nothing', () => {
  const now: Tested = { ...BEFORE, features: [...BEFORE.features, 'compactions'], records: ['message user'] };
  expect(explainChange('codex', BEFORE, now)).toEqual([]);
});

test('tokens have a cost only if an event names the model', () => {
  const source = { agent: 'codex', session: 's', file: 'f', position: 0 };
  const usage: CapturedEvent = { eventType: 'usage', payload: { source, inputTokens: 1 } };
  expect([...featuresOf([usage])]).toEqual(['tokens']);
  const meta: CapturedEvent = { eventType: 'session.meta', payload: { source, model: 'm' } };
  expect([...featuresOf([usage, meta])]).toEqual(['tokens', 'cost']);
});

test('the support matrix is about the versions that the tests install', () => {
  const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, 'agents.json'), 'utf8'));
  const installed: unknown[] = Object.values(dependencies);
  for (const [agent, { version }] of Object.entries(readTested())) {
    expect(installed, `${agent}: UPDATE_MATRIX=1 script/test --agents && npm run generate`).toContain(version);
  }
});
