import { expect, test } from 'vitest';
import { createContext } from '../test/program.ts';
import { findPasswords, MEMORY_VARIABLES, variablesForDaemon } from './variables.ts';

/** The names of all variables that are read. */
function recordNames(use: (variables: { [name: string]: string | undefined }) => void): string[] {
  const asked = new Set<string>();
  use(new Proxy({}, { get: (_, name) => void asked.add(String(name)) }));
  return [...asked];
}

test("every variable that moves an agent's folders reaches a daemon under a supervisor", () => {
  const { agents } = createContext({ home: '/home/u' }).context;
  const names = recordNames((variables) => {
    for (const agent of agents) agent.roots(variables, '/home/u');
  });
  expect(names).toContain('CODEX_HOME');
  // Windows sets it for every program.
  const moving = names.filter((name) => name !== 'APPDATA');
  const all = Object.fromEntries(moving.map((name) => [name, '/else']));
  expect(variablesForDaemon(all)).toEqual({ ...all, ...MEMORY_VARIABLES });
});

test('proxies and certificates reach the daemon, but passwords and other variables do not', () => {
  const wanted = {
    HTTPS_PROXY: 'http://proxy.example:8080',
    no_proxy: 'localhost,.example',
    NODE_USE_ENV_PROXY: '1',
    NODE_EXTRA_CA_CERTS: '/etc/ssl/company.pem',
  };
  const secret = { http_proxy: 'http://me:hunter2@proxy.example:8080', HTTP_PROXY: 'me:hunter2@proxy.example' };
  const others = { CAPTURE_SECRET: 'sk_live_x', PATH: '/bin', CODEX_HOME: '/a\nInjected=1' };
  expect(variablesForDaemon({ ...wanted, ...secret, ...others })).toEqual({ ...wanted, ...MEMORY_VARIABLES });
  expect(findPasswords({ ...wanted, ...secret })).toEqual(['HTTP_PROXY', 'http_proxy']);
});
