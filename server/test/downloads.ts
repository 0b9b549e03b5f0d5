import Fastify, { type FastifyInstance } from 'fastify';
import { serveDownloads } from '../http/downloads.ts';
import { sendError } from '../http/errors.ts';
import { createLimits } from '../limits.ts';
import type { Store } from '../store/open.ts';
import { testConfig } from './harness.ts';

export interface Offer {
  folder: string;
  /** The service's address, as the scripts are given it. */
  publicUrl: string;
  /** Requests a minute for each address; 0: no limit. */
  limit?: number;
}

/** A server with the download routes of the service and no other routes. */
export async function createDownloads({ folder, publicUrl, limit = 0 }: Offer): Promise<FastifyInstance> {
  const app = Fastify({ trustProxy: true });
  app.setErrorHandler(sendError);
  const limits = createLimits(testConfig({ RATE_LIMIT_ADDRESS: limit }), {} as Store);
  await serveDownloads(app, { publicUrl, limits, folder });
  return app;
}
