import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import { openRedactor } from '../pipeline.ts';
import { makeFolder, write } from './folder.ts';
import { createContext } from './program.ts';
import { redactOne } from './redacting.ts';

const SECRET = 'Wolken-uber-7-Berge';
const source = { agent: 'pi', session: 's', file: 'f', position: 0 } as const;
const said: CapturedEvent = { eventType: 'user.message', payload: { source, text: `It is ${SECRET}.` } };

test.each([
  ['.claude/.credentials.json', {}],
  ['moved/.credentials.json', { CLAUDE_CONFIG_DIR: 'moved' }],
  ['.codex/auth.json', {}],
  ['moved/auth.json', { CODEX_HOME: 'moved' }],
  ['.gemini/oauth_creds.json', {}],
  ['.qwen/oauth_creds.json', {}],
  ['.factory/auth.json', {}],
  ['.copilot/config.json', {}],
  ['.config/github-copilot/apps.json', {}],
  ['.cursor/mcp.json', {}],
  ['.local/share/opencode/auth.json', {}],
  ['.local/share/kilo/auth.json', {}],
  ['.pi/agent/auth.json', {}],
])("an agent's own credentials are masked: %s", (file, moved: { [name: string]: string }) => {
  const home = makeFolder();
  const entries = Object.entries(moved).map(([name, folder]) => [name, join(home, folder)]);
  const { context } = createContext({ home, variables: Object.fromEntries(entries) });
  const redact = () => redactOne(openRedactor(context, { folder: home, settings: {} }), said).payload.redactions;
  expect(redact()).toBeUndefined();
  write(join(home, file), JSON.stringify({ tokens: { access_token: SECRET } }));
  expect(redact()).toEqual({ 'known-value': 1 });
});
