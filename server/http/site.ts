import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import type { Identity } from '../identity/identity.ts';
import type { Limits } from '../limits.ts';
import { serveDownloads } from './downloads.ts';
import { serveOpenapiDocument } from './openapi-document.ts';
import { servePages } from './pages.ts';
import { serveSecurityTxt } from './security-txt.ts';

export interface SiteOptions {
  config: Config;
  identity: Identity;
  limits: Limits;
  publicUrl: string;
  now: () => number;
}

/** Serves everything that is not a route of the contract: signing in, downloads, documents, and the pages of the dashboard. */
export async function serveSite(
  app: FastifyInstance,
  { config, identity, limits, publicUrl, now }: SiteOptions,
): Promise<void> {
  await identity.mount?.(app);
  await serveDownloads(app, { publicUrl, limits });
  serveOpenapiDocument(app, { publicUrl, limits });
  serveSecurityTxt(app, { contact: config.SECURITY_CONTACT, publicUrl, now });
  await servePages(app, { publicUrl, origins: identity.origins });
}
