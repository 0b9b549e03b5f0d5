import type { Readable } from 'node:stream';
import type { FastifyBaseLogger } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Extensions } from '../../contract/extensions.ts';
import type { Route } from '../../contract/route.ts';
import type { Routes } from '../../contract/routes.ts';
import type { LimitKind } from '../limits.ts';
import type { CallerOf } from './auth.ts';
import type { SentFrame } from './body.ts';

type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [Key in Name]: string } & PathParameters<Rest>
  : unknown;

type Part<Row, Name extends string> = Row extends { [Key in Name]: infer Schema extends TSchema }
  ? Static<Schema>
  : undefined;

/** A request that is authenticated and valid. */
export interface Ask<Row extends Route = Route> {
  caller: CallerOf<Row['auth']>;
  params: PathParameters<Row['path']>;
  query: Part<Row, 'query'>;
  /** An absent optional body is `{}`; undefined if the handler reads the bytes. */
  body: Row extends { rawBody: true } ? undefined : Part<Row, 'body'>;
  /** The decoded bytes of the body, or of its first frame. */
  bytes: Buffer;
  /** The body in its sent form, if that was one zstd frame. */
  zstd: Buffer | undefined;
  /** The frames of the body after the first. */
  frames: readonly SentFrame[];
  header(name: string): string | undefined;
  /** Network address of the caller. */
  address: string;
  log: FastifyBaseLogger;
  /** Aborted when the caller leaves before the answer. */
  signal: AbortSignal;
  /**
   * Counts more points against the caller's limit, for a request that does the work of several. Does nothing on a route without
   * a limit.
   * @throws Problem `rate_limited` when the limit is exceeded
   */
  spend(points: number): Promise<void>;
  /**
   * Counts the request against another limit than the caller's.
   * @throws Problem `rate_limited`
   */
  countAs(kind: LimitKind, key: string): Promise<void>;
}

type Replies<Row extends Route> = {
  [Status in keyof Row['replies'] & number]: {
    status: Status;
    body: (Row['replies'][Status] extends TSchema ? Static<Row['replies'][Status]> : never) | Readable;
    headers?: Record<string, string>;
  };
};

/** One of the documented successes. The body is a stream if the handler writes the JSON itself. */
export type Answer<Row extends Route = Route> = Replies<Row>[keyof Row['replies'] & number];

export type Handler<Row extends Route> = (ask: Ask<Row>) => Promise<Answer<Row>>;

/** A handler for each row of both tables. A missing one is a type error. */
export type Handlers = {
  [Name in keyof (Routes & Extensions)]: Handler<(Routes & Extensions)[Name]>;
};
