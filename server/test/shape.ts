import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect } from 'vitest';
import { SCIM_SCHEMAS, SCIM_TYPE, ScimError } from '../../contract/directory.ts';
import { PROBLEMS } from '../../contract/problem.ts';
import type { TestReply } from './harness.ts';

type Json = Record<string, unknown>;

/** The same schema, closed to fields that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy: Json = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  if (copy.type === 'object' && copy.additionalProperties === undefined) copy.additionalProperties = false;
  return copy;
}

const compiled = new Map<TSchema, ReturnType<typeof Compile>>();

/** Expects the documented fields with their documented types, and no other field. */
export function expectShape(schema: TSchema, body: unknown): void {
  const validator = compiled.get(schema) ?? Compile(closed(schema) as TSchema);
  compiled.set(schema, validator);
  expect(validator.Errors(body), JSON.stringify(body)).toEqual([]);
  expectTimestamps(body);
}

/** Expects every field that ends in `At` to be UTC with milliseconds. Skips payloads and configs, which clients write. */
function expectTimestamps(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'payload' || key === 'config') continue;
    if (key.endsWith('At')) expect(inner, key).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    else expectTimestamps(inner);
  }
}

/** A SCIM error has the message, the status and at most one keyword of RFC 7644. */
function expectScimError({ status, body }: TestReply): void {
  expectShape(ScimError, body);
  expect(body).toMatchObject({ schemas: [SCIM_SCHEMAS.error], status: String(status) });
  expect(body.detail).toMatch(/\.$/);
}

const LEAKS = /node_modules|\bat \w+ \(|\.ts:\d|SQLITE|sqlite|postgres|\bselect\b .*\bfrom\b|undefined|\[object/;

/** Expects `{ error, code }` and no other field, a code that belongs to the status, and a message that reveals nothing. */
export function expectProblem(reply: TestReply, status: number, code?: string): void {
  expect(reply, reply.text).toMatchObject({ status });
  if (reply.headers['content-type'] === SCIM_TYPE) expectScimError(reply);
  else expectOwnError(reply, status, code);
  expect(reply.text).not.toMatch(LEAKS);
  if (status === 429 || status === 503) expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  if (status === 401) expect(reply.headers['www-authenticate']).toBe('Bearer');
}

function expectOwnError(reply: TestReply, status: number, code: string | undefined): void {
  expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(Object.keys(reply.body).sort()).toEqual(['code', 'error']);
  expect(PROBLEMS[reply.body.code as keyof typeof PROBLEMS]).toBe(status);
  expect(reply.body.error).toMatch(/\.$/);
  if (code !== undefined) expect(reply.body.code).toBe(code);
}
