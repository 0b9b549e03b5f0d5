import type { FastifyInstance } from 'fastify';
import { openapi } from '../../contract/openapi.ts';
import type { Limits } from '../limits.ts';
import { VERSION } from '../version.ts';
import { COMPRESSED } from './bind.ts';
import { limitAddress } from './limit-address.ts';

export interface OpenapiDocumentOptions {
  /** Public address of the service, to which the paths of the document belong. */
  publicUrl: string;
  limits: Limits;
}

/** Serves the OpenAPI document of this version's routes. */
export function serveOpenapiDocument(app: FastifyInstance, { publicUrl, limits }: OpenapiDocumentOptions): void {
  let text: string | undefined;
  app.get('/openapi.json', { onRequest: limitAddress(limits), compress: COMPRESSED }, async (_request, reply) => {
    // Few services are ever asked for it, and it takes half a megabyte.
    text ??= JSON.stringify(openapi(VERSION, publicUrl));
    return reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache').send(text);
  });
}
