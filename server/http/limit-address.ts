import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Limits, RateLimited } from '../limits.ts';

/** Counts each request to a public path that is in no table of routes, for the address that it comes from. */
export const limitAddress = (limits: Limits) => async (request: FastifyRequest, reply: FastifyReply) => {
  try {
    reply.headers(await limits.count('address', request.ip));
  } catch (error) {
    if (error instanceof RateLimited) reply.headers(error.headers);
    throw error;
  }
};
