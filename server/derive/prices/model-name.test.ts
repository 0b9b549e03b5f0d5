import { describe, expect, test } from 'vitest';
import { readModelName } from './model-name.ts';

describe('the name of a model', () => {
  test.each([
    ['claude-opus-4-6', 'claude-opus-4-6'],
    ['claude-opus-4.6', 'claude-opus-4-6'],
    ['Claude-Opus-4.6', 'claude-opus-4-6'],
    ['claude-opus-4-6[1m]', 'claude-opus-4-6'],
    ['claude-opus-4-6-20260205', 'claude-opus-4-6'],
    ['claude-opus-4-6@20260205', 'claude-opus-4-6'],
    ['claude-opus-4-6@default', 'claude-opus-4-6'],
    ['us.anthropic.claude-opus-4-6-v1', 'claude-opus-4-6'],
    ['us.anthropic.claude-opus-4-6-v1:0', 'claude-opus-4-6'],
    ['global.anthropic.claude-opus-4-5-20251101-v1:0', 'claude-opus-4-5'],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
    ['arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1:0', 'claude-opus-4-6'],
    ['anthropic/claude-opus-4.6', 'claude-opus-4-6'],
    ['openrouter/anthropic/claude-opus-4.6:thinking', 'claude-opus-4-6'],
    ['anthropic:claude-opus-4-6', 'claude-opus-4-6'],
    ['projects/p/locations/us/publishers/anthropic/models/claude-opus-4-6@20260205', 'claude-opus-4-6'],
    ['claude-4-opus', 'claude-opus-4'],
    ['claude-4.6-opus-high-thinking', 'claude-opus-4-6'],
    ['claude-3-5-sonnet-20241022', 'claude-3-5-sonnet'],
    ['claude-3.7-sonnet', 'claude-3-7-sonnet'],
    ['claude-3-5-haiku-latest', 'claude-3-5-haiku'],
    ['claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
    ['gpt-5.1-codex-max', 'gpt-5.1-codex-max'],
    ['gpt-5.4-2026-03-05', 'gpt-5.4'],
    ['gpt-5.4-high', 'gpt-5.4'],
    ['openai/gpt-5.4-mini', 'gpt-5.4-mini'],
    ['gpt-4o-2024-08-06', 'gpt-4o'],
    ['models/gemini-3-pro-preview', 'gemini-3-pro-preview'],
    ['gemini-2.5-flash', 'gemini-2.5-flash'],
    ['moonshot-ai/kimi-k2.7-code', 'kimi-k2.7-code'],
    ['qwen/qwen3-coder:free', 'qwen3-coder:free'],
    ['mistral-medium-3.5', 'mistral-medium-3.5'],
    ['grok-4-fast', 'grok-4-fast'],
    ['qwen3-coder-480b-a35b-instruct', 'qwen3-coder-480b-a35b-instruct'],
    ['o4-mini', 'o4-mini'],
    ['<synthetic>', '<synthetic>'],
    ['', ''],
  ])('%s is that of %s', (given, name) => {
    expect(readModelName(given)).toEqual({ name, terms: {} });
  });

  test.each([
    ['claude-opus-4.6-fast', 'claude-opus-4-6', { speed: 'fast' }],
    ['anthropic/claude-opus-5-fast', 'claude-opus-5', { speed: 'fast' }],
    ['gpt-5.6-sol-fast', 'gpt-5.6-sol', { tier: 'priority' }],
    ['gpt-5.4-high-fast', 'gpt-5.4', { tier: 'priority' }],
  ])('%s is that of %s in fast mode', (given, name, terms) => {
    expect(readModelName(given)).toEqual({ name, terms });
  });
});
