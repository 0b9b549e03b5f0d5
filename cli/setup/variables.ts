import type { Variables } from '../agents/agent.ts';
import { AGENTS } from '../agents/all.ts';

/**
 * Where agents keep their sessions, if not where they usually do, and how the service is reached: a supervisor does not
 * start the daemon from a person's shell.
 */
const NAMES = [
  ...new Set(AGENTS.flatMap((agent) => agent.variables ?? [])),
  'CAPTURE_URL',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_ENV_PROXY',
  'NODE_USE_SYSTEM_CA',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
];

/** Those of a person's variables that the daemon needs; never a secret. */
export function variablesForDaemon(variables: Variables): { [name: string]: string } {
  const known = NAMES.map((name) => [name, variables[name] ?? ''] as const);
  return Object.fromEntries(known.filter(([, value]) => value !== '' && !/[\r\n]/.test(value) && !hasPassword(value)));
}

/** Names of those that are kept from it because they hold a password, such as that of a proxy. */
export const findPasswords = (variables: Variables): string[] =>
  NAMES.filter((name) => hasPassword(variables[name] ?? ''));

/** `http://name:password@proxy:8080`, and `name:password@proxy:8080`, which is taken for the same. */
const hasPassword = (value: string): boolean => /^(?:\w+:\/\/)?[^/\s]+@/.test(value);
