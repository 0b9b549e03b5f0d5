import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { MAX_APPEND_BYTES } from '../../contract/event.ts';
import { Problem } from '../../contract/problem.ts';
import type { Route } from '../../contract/route.ts';
import type { Authenticator } from './auth.ts';
import { decodeBody, MAX_BODY_BYTES, parseJson } from './body.ts';
import type { Answer, Ask, Handler } from './handler.ts';
import { type Limits, RateLimited } from './limits.ts';
import { createValidate, type Validate } from './validate.ts';

export interface BindOptions {
  authenticator: Authenticator;
  limits: Limits;
}

type AnyHandler = (ask: Ask) => Promise<Answer>;

/** Serves one row of a table: limit → authenticate → parse → validate → handle → reply. */
export function bindRoute<Row extends Route>(
  app: FastifyInstance,
  row: Row,
  handler: Handler<Row>,
  options: BindOptions,
) {
  const ask = createAsk(row, options);
  app.route({
    method: row.method,
    url: row.path.replace(/\{(\w+)\}/g, ':$1'),
    bodyLimit: bodyLimit(row),
    compress: row.method === 'GET' && !row.contentType ? {} : false,
    // Serializing by schema sends the documented fields and nothing else.
    schema: { response: row.contentType ? {} : row.replies },
    handler: async (request, reply) => {
      const answer = await (handler as unknown as AnyHandler)(await ask(request, reply));
      reply.code(answer.status).headers(answer.headers ?? {});
      return reply.type(row.contentType ?? 'application/json; charset=utf-8').send(answer.body);
    },
  });
}

/** Append alone takes large bodies. */
const bodyLimit = (row: Route) =>
  row.path.endsWith('/events') && row.method === 'POST' ? MAX_APPEND_BYTES : MAX_BODY_BYTES;

function createAsk(row: Route, { authenticator, limits }: BindOptions) {
  const limited = row.errors.includes(429);
  const validateQuery = row.query ? createValidate(row.query) : undefined;
  const readBody = row.body ? createBodyReader(row, row.body) : undefined;

  return async (request: FastifyRequest, reply: FastifyReply): Promise<Ask> => {
    if (limited && row.auth === 'public') await count(limits, reply, 'address', request.ip);
    const caller = await authenticate(request, reply);
    if (limited && caller) {
      if ('secretId' in caller) await count(limits, reply, 'secret', caller.secretId);
      else await count(limits, reply, 'user', caller.userId);
    }
    const query = withoutNul(request.query as Record<string, string>);
    validateQuery?.(query);
    const { body, bytes } = (await readBody?.(request)) ?? { body: undefined, bytes: Buffer.alloc(0) };
    return {
      caller,
      params: withoutNul(request.params as Record<string, string>) as unknown as Ask['params'],
      query: query as unknown as Ask['query'],
      body: body as Ask['body'],
      bytes,
      header: (name) => request.headers[name] as string | undefined,
      log: request.log,
      get signal() {
        return abortSignal(reply);
      },
    };
  };

  /** Refused attempts count against the address, where the route knows 429. */
  async function authenticate(request: FastifyRequest, reply: FastifyReply) {
    try {
      return await authenticator.authenticate(row.auth, request);
    } catch (error) {
      const refused = error instanceof Problem && (error.status === 401 || error.status === 403);
      if (limited && refused) await count(limits, reply, 'address', request.ip);
      throw error;
    }
  }
}

async function count(limits: Limits, reply: FastifyReply, kind: 'secret' | 'user' | 'address', key: string) {
  try {
    reply.headers(await limits.count(kind, key));
  } catch (error) {
    if (error instanceof RateLimited) reply.headers(error.headers);
    throw error;
  }
}

function createBodyReader(row: Route, schema: TSchema) {
  const validate: Validate = createValidate(schema);
  const limit = bodyLimit(row);
  return async (request: FastifyRequest) => {
    const bytes = await decodeBody(request, limit);
    const body = bytes.byteLength === 0 && row.bodyOptional ? {} : parseJson(bytes);
    validate(body);
    return { body, bytes };
  };
}

/** PostgreSQL cannot even be asked for a text with a NUL. Nothing is called so, so it is asked for another such text. */
function withoutNul(values: Record<string, string>): Record<string, string> {
  if (!Object.values(values).some((value) => typeof value === 'string' && value.includes('\0'))) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, String(value).replaceAll('\0', '\ufffd')]),
  );
}

function abortSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}
