import type { TObject, TSchema } from 'typebox';

/**
 * The callers of a route.
 *  - `public`: anybody
 *  - `visitor`: anybody; a caller who sends a token counts as the signed-in person
 *  - `secret`: a holder of an organization secret
 *  - `user`: a signed-in person, whether a member of an organization or not
 *  - `member`, `admin`: a signed-in person with at least that role in an organization
 *  - `directory`: a holder of the token of an organization's directory
 */
export type Auth = 'public' | 'visitor' | 'secret' | 'user' | 'member' | 'admin' | 'directory';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Statuses of the error answers of a route, besides its successes. */
export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 410 | 429 | 502 | 503;

/** One row of a route table. */
export interface Route {
  method: Method;
  /** `/v1/things/{thingId}`; every path parameter is a required string. */
  path: string;
  auth: Auth;
  summary: string;
  query?: TObject;
  /** Absent for a `GET` or `DELETE`. */
  body?: TSchema;
  /** The body may be absent altogether. */
  bodyOptional?: true;
  /** Largest decoded body in bytes; absent: 256 KiB. */
  maxBodyBytes?: number;
  /** The body is a sequence of zstd frames: the JSON of `body`, then at most this many frames that the handler reads. */
  frames?: { most: number; about: string };
  /** The handler reads the bytes of the body itself. They are decoded, but neither parsed nor validated. */
  rawBody?: true;
  /**
   * Counted apart from the caller's other requests, so that neither a backlog nor waiting machines delay those. The handler
   * counts a `waiting` request, because the key of its count is in the body.
   */
  limit?: 'backlog' | 'device' | 'waiting';
  /** Also answers a machine on which a person has signed in for reading, as that person. */
  isForReading?: true;
  /** The request headers that the route reads, by name, with a sentence about each. */
  headers?: Record<string, string>;
  /** The schema of the JSON body, by success status. */
  replies: Record<number, TSchema>;
  /** Other content types of a success, e.g. an event stream. */
  contentType?: string;
  errors: readonly ErrorStatus[];
}

/** Content type of a body of zstd frames (RFC 8878). */
export const FRAMES_TYPE = 'application/zstd';

/** Keeps the row's literal types and checks it against `Route`. */
export const route = <const Row extends Route>(row: Row): Row => row;
