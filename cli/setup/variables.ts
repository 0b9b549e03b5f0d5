import type { Variables } from '../agents/agent.ts';
import { AGENTS } from '../agents/all.ts';

/**
 * Where agents keep their sessions if not in the usual place, and how to reach the service. A supervisor does not start the
 * daemon from a person's shell, so it needs these variables.
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

/** Makes glibc return memory: 163 MB resident became 107 after a first catch-up. Other libraries ignore these names. */
export const MEMORY_VARIABLES = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

/** The variables of a person that the daemon needs. Never a secret. */
export function variablesForDaemon(variables: Variables): { [name: string]: string } {
  const known = NAMES.map((name) => [name, variables[name] ?? ''] as const);
  const handed = known.filter(([, value]) => value !== '' && !/[\r\n]/.test(value) && !hasPassword(value));
  return { ...Object.fromEntries(handed), ...MEMORY_VARIABLES };
}

/** Variables that the daemon does not get because they contain a password, such as a proxy's. */
export const findPasswords = (variables: Variables): string[] =>
  NAMES.filter((name) => hasPassword(variables[name] ?? ''));

/** `http://name:password@proxy:8080`, and `name:password@proxy:8080`, which means the same. */
const hasPassword = (value: string): boolean => /^(?:\w+:\/\/)?[^/\s]+@/.test(value);
