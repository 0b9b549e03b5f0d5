import type { FastifyCompressOptions } from '@fastify/compress';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Route } from '../../contract/route.ts';
import { asOrganization } from '../store/tenant.ts';
import { sliceOf } from '../work.ts';
import { type Admission, type AdmitOptions, createAdmit } from './admit.ts';
import { MAX_BODY_BYTES, parseJson, type ReceivedBody, readBody, readFrames, type SentFrame } from './body.ts';
import type { Account } from './budget.ts';
import type { Answer, Ask, Handler } from './handler.ts';
import { createValidate } from './validate.ts';

/** Options of a route replace the plugin's defaults instead of merging with them, so this repeats all of them. */
export const COMPRESSED: FastifyCompressOptions = {
  encodings: ['zstd', 'gzip', 'deflate'],
  threshold: 4096,
  customTypes: /^text\/(?!event-stream)|[+/](?:x-nd)?json(?:;|$)|[+/]xml(?:;|$)|javascript/,
};

type AnyHandler = (ask: Ask) => Promise<Answer>;

/** Serves one row of a table: limit → authenticate → read, and confirm the caller → validate → handle → reply. */
export function bindRoute<Row extends Route>(
  app: FastifyInstance,
  row: Row,
  handler: Handler<Row>,
  options: AdmitOptions,
) {
  const admit = createAdmit(row, options);
  const read = createRead(row);
  app.route({
    method: row.method,
    url: row.path.replace(/\{(\w+)\}/g, ':$1'),
    // The contract has no HEAD. Answering one would read a page from the store in vain.
    exposeHeadRoute: false,
    // The compressor would keep the events of a stream until it has enough of them.
    compress: row.method === 'GET' && row.contentType !== 'text/event-stream' ? COMPRESSED : false,
    // Serializing by the schema sends only documented fields. A 204 has no body to serialize.
    schema: { response: row.contentType || 204 in row.replies ? {} : row.replies },
    async onRequest(request, reply) {
      request.admission = await admit(request, reply);
    },
    handler: async (request, reply) => {
      const ask = await read(request);
      const handle = () => (handler as unknown as AnyHandler)(ask);
      const { caller } = ask;
      const isOfOne = caller !== undefined && 'organizationId' in caller;
      // Changes are not limited to the rows that the caller may read; each change checks its own permissions.
      const reader = row.method === 'GET' && isOfOne && 'userId' in caller ? caller.userId : undefined;
      const answer = await (isOfOne ? asOrganization(caller.organizationId, handle, reader) : handle());
      reply.code(answer.status).headers(answer.headers ?? {});
      if (answer.status === 204) return reply.send();
      return reply.type(row.contentType ?? 'application/json; charset=utf-8').send(answer.body);
    },
  });
}

const NOTHING = Buffer.alloc(0);

interface Received extends ReceivedBody {
  frames: readonly SentFrame[];
}

function createRead(row: Route) {
  const validateQuery = row.query ? createValidate(row.query) : undefined;
  const limit = row.maxBodyBytes ?? MAX_BODY_BYTES;
  const parseBody = row.body && !row.rawBody ? createParseBody(row.body, row.bodyOptional ?? false) : undefined;

  async function receive({ raw }: FastifyRequest, account: Account): Promise<Received> {
    if (!row.body) return { bytes: NOTHING, frames: [] };
    if (row.frames === undefined) return { ...(await readBody(raw, limit, account)), frames: [] };
    const [first, ...frames] = await readFrames(raw, limit, 1 + row.frames.most, account);
    return { bytes: first?.plain ?? NOTHING, frames };
  }

  return async (request: FastifyRequest): Promise<Ask> => {
    const { confirm, account, signal, spend, countAs } = request.admission as Admission;
    const query = withoutNul(request.query as Record<string, string>);
    validateQuery?.(query);
    const { bytes, zstd, frames } = await receive(request, account);
    const caller = await confirm();
    const body = await parseBody?.(bytes);
    return {
      caller,
      params: withoutNul(request.params as Record<string, string>) as unknown as Ask['params'],
      query: query as unknown as Ask['query'],
      body: body as Ask['body'],
      bytes,
      zstd,
      frames,
      header: (name) => request.headers[name] as string | undefined,
      address: request.ip,
      log: request.log,
      signal,
      spend,
      countAs,
    };
  };
}

/** Parses JSON and validates it. */
function createParseBody(schema: TSchema, optional: boolean) {
  const validate = createValidate(schema);
  const parse = (bytes: Buffer) => {
    const body = bytes.byteLength === 0 && optional ? {} : parseJson(bytes);
    validate(body);
    return body;
  };
  return (bytes: Buffer) => sliceOf(bytes.byteLength, () => parse(bytes));
}

/** PostgreSQL refuses NUL in a parameter. No stored name contains the replacement character, so the query finds nothing. */
function withoutNul(values: Record<string, string>): Record<string, string> {
  if (!Object.values(values).some((value) => typeof value === 'string' && value.includes('\0'))) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, String(value).replaceAll('\0', '\ufffd')]),
  );
}
