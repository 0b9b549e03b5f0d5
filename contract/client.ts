import type { Static, TSchema } from 'typebox';
import { EXTENSIONS, type Extensions } from './extensions.ts';
import type { ProblemBody } from './problem.ts';
import { FRAMES_TYPE, type Route } from './route.ts';
import { ROUTES, type Routes } from './routes.ts';

/** The timeout of the command line and the service for a request. At 1.6 Mbit/s, 12 MB of images arrive within it. */
export const REQUEST_TIMEOUT_MS = 60_000;

type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [Key in Name]: string } & PathParameters<Rest>
  : unknown;

type Query<Row> = Row extends { query: infer Schema extends TSchema } ? { query?: Static<Schema> } : unknown;

type RequestBody<Row> = Row extends { bodyOptional: true; body: infer Schema extends TSchema }
  ? { body?: Static<Schema> }
  : Row extends { frames: object }
    ? { body: Uint8Array<ArrayBuffer> }
    : Row extends { body: infer Schema extends TSchema }
      ? { body: Static<Schema> }
      : unknown;

/** The input of a call to the route: its path parameters, query and body, besides headers and a signal. */
export type Input<Row extends Route> = PathParameters<Row['path']> &
  Query<Row> &
  RequestBody<Row> & { headers?: Record<string, string>; signal?: AbortSignal };

/** The JSON body of the route's success. */
export type Output<Row extends Route> = Row['replies'][keyof Row['replies']] extends infer Schema extends TSchema
  ? Static<Schema>
  : never;

/** The part of `fetch` that a client uses. The built-in one fits, and so do its replacements. */
export type Fetch = (address: string, init?: FetchInit) => Promise<FetchReply>;

export interface FetchInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
  redirect?: 'manual';
}

export interface FetchReply {
  status: number;
  ok: boolean;
  headers: { get(name: string): string | null };
  body: { cancel(): Promise<void> } | null;
  text(): Promise<string>;
  json(): Promise<unknown>;
}

/** A success: the body, and the data that only the transport knows. */
export interface Reply<Body> {
  status: number;
  headers: FetchReply['headers'];
  body: Body;
}

type AllRoutes = Routes & Extensions;

export type Client = {
  [Name in keyof AllRoutes]: (input: Input<AllRoutes[Name]>) => Promise<Reply<Output<AllRoutes[Name]>>>;
};

/** The service answered with an error, or with an answer outside the contract (`code` is then undefined). */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: ProblemBody['code'] | undefined;
  /** Seconds that the service asks to wait, from `Retry-After`. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;

  constructor(status: number, body: Partial<ProblemBody>, headers: FetchReply['headers']) {
    super(body.error ?? `the service answered ${status}`);
    this.name = 'ServiceError';
    this.status = status;
    this.code = body.code;
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    this.retryAfter = Number.isFinite(seconds) ? seconds : undefined;
    this.requestId = headers.get('x-request-id') ?? undefined;
  }
}

export interface ClientOptions {
  /** Base address, with or without a trailing slash; empty for the page's own origin. */
  baseUrl: string;
  /** The bearer credential of each request: an organization secret or a JWT. */
  credential?: () => string | undefined | Promise<string | undefined>;
  fetch?: Fetch;
}

/** A function for each row of both tables. It throws `ServiceError` for an error answer, and the errors of `fetch`. */
export function createClient(options: ClientOptions): Client {
  const call = (row: Route) => (input: Record<string, unknown>) => send(options, row, input);
  const rows = Object.entries({ ...ROUTES, ...EXTENSIONS } as Record<string, Route>);
  return Object.fromEntries(rows.map(([name, row]) => [name, call(row)])) as unknown as Client;
}

async function send(options: ClientOptions, row: Route, input: Record<string, unknown>): Promise<Reply<unknown>> {
  const headers = { ...(input.headers as Record<string, string> | undefined) };
  const credential = await options.credential?.();
  if (credential !== undefined) headers.authorization = `Bearer ${credential}`;
  const init: FetchInit = { method: row.method, headers };
  if (input.signal) init.signal = input.signal as AbortSignal;
  if (input.body !== undefined) {
    const isFrames = row.frames !== undefined;
    headers['content-type'] = isFrames ? FRAMES_TYPE : 'application/json';
    init.body = isFrames ? (input.body as Uint8Array<ArrayBuffer>) : JSON.stringify(input.body);
  }
  const response = await (options.fetch ?? fetch)(address(options.baseUrl, row, input), init);
  const body: unknown = (await response.json().catch(() => undefined)) ?? {};
  if (!response.ok) throw new ServiceError(response.status, body as Partial<ProblemBody>, response.headers);
  return { status: response.status, headers: response.headers, body };
}

/** The route's address with its path parameters and query filled in. */
export function address(baseUrl: string, row: Pick<Route, 'path'>, input: Record<string, unknown>): string {
  const path = row.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));
  const entries = Object.entries((input.query ?? {}) as Record<string, unknown>);
  const given = entries.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const query = given.length > 0 ? `?${new URLSearchParams(given)}` : '';
  return baseUrl.replace(/\/$/, '') + path + query;
}
