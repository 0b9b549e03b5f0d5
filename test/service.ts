import { fileURLToPath } from 'node:url';
import { freePort } from '../server/public-url.ts';
import { type Running, type Surroundings, startProcess } from './process.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The service as it is shipped; `built-service.ts` builds it before the tests. A start from source would take 0.85 s of processor
 * time instead of 0.2 s.
 */
export const BUILT_SERVICE = at('../artefacts/service/main.cjs');
/** The service from source. */
export const SOURCE = at('../server/main.ts');

/** Variables of a service that accepts any number of requests: all of them come from one address. */
export const UNLIMITED = { RATE_LIMIT_SECRET: '0', RATE_LIMIT_USER: '0', RATE_LIMIT_ADDRESS: '0' };

/** The service as a process of its own. */
export interface Service extends Running {
  url: string;
}

export interface Launch {
  program?: string | undefined;
  /** Options of Node. */
  flags?: readonly string[] | undefined;
  log?: Surroundings['log'] | undefined;
}

/** Starts the service on the folder. Rejects with its output if it ends before it is ready. */
export async function startService(...given: Parameters<typeof launchService>): Promise<Service> {
  const { ready, ...service } = await launchService(...given);
  await ready;
  return service;
}

/** Starts the service without waiting until it is ready. */
export async function launchService(
  dataDir: string,
  variables: Record<string, string> = {},
  { program = BUILT_SERVICE, flags = [], log }: Launch = {},
): Promise<Service & { ready: Promise<unknown> }> {
  const PORT = variables.PORT ?? String(await freePort('127.0.0.1'));
  const env = { LOG_LEVEL: 'warn', DATA_DIR: dataDir, ...variables, PORT };
  const service = startProcess([process.execPath, ...flags, program], { env, log });
  const ready = service.until(/ is ready /);
  ready.catch(() => undefined);
  return { ...service, url: `http://127.0.0.1:${PORT}`, ready };
}

/** The link with which the first person creates an account; the service prints it after it is ready. */
export const welcomeLinkOf = async (service: Running): Promise<string> =>
  (await service.until(/https?:\S+\/welcome\?token=\S+/))[0];
