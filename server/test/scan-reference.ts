import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppendBody, MAX_BATCH_EVENTS, MAX_PAYLOAD_BYTES, MAX_PAYLOAD_DEPTH } from '../../contract/event.ts';
import { Problem, type ProblemCode } from '../../contract/problem.ts';
import { parseJson } from '../http/body.ts';
import type { ScannedAppend } from '../ingest/scan/append.ts';

/** What the scans must find in a body, computed slowly: with `JSON.parse`, the contract's schema and the body's own text. */

const validateAppend = Compile(AppendBody);
/** The parts that were found, in a form that can be compared; or the error's code with the pointers that it may name. */
export type Verdict = { found: unknown } | { code: ProblemCode; pointers: string[] };

export function referenceOfAppend(bytes: Buffer): Verdict {
  return refer(bytes, validateAppend, (text) => {
    const { events, tooMuch } = eventsOf(text);
    const key = lastMember(text, 'idempotencyKey');
    return { found: { events, idempotencyKey: key && JSON.parse(key) }, tooMuch };
  });
}

/** The verdict of a scan in the same form. */
export function verdictOf(scan: () => ScannedAppend): Verdict {
  try {
    const { events, ...rest } = scan();
    const described = events.map(({ eventType, payload }) => ({ eventType, payload: payload.toString() }));
    return { found: { ...rest, events: described } };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, pointers: /^\/\S*/.exec(error.message) ?? [] };
  }
}

/** If a body has several faults, the scan may report any of them. */
export function agrees(actual: Verdict, expected: Verdict): boolean {
  if ('found' in expected || 'found' in actual) return isDeepStrictEqual(actual, expected);
  if (actual.code !== expected.code) return false;
  return expected.code === 'malformed_json' || expected.pointers.includes(actual.pointers[0] ?? '');
}

function refer(
  bytes: Buffer,
  validator: ReturnType<typeof Compile<TSchema>>,
  read: (text: string) => { found: unknown; tooMuch: string[] },
): Verdict {
  let value: unknown;
  try {
    value = parseJson(bytes);
  } catch (error) {
    return { code: (error as Problem).code, pointers: [] };
  }
  const wrong = validator.Check(value) ? [] : validator.Errors(value).flatMap(pointersOf);
  if (!isRecord(value)) return { code: 'validation_failed', pointers: wrong };
  const { found, tooMuch } = read(bytes.toString().trim());
  if (wrong.length > 0 || tooMuch.length > 0) return { code: 'validation_failed', pointers: [...wrong, ...tooMuch] };
  return { found };
}

const isRecord = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

function pointersOf({ instancePath, params }: { instancePath: string; params: object }): string[] {
  const missing = (params as { requiredProperties?: string[] }).requiredProperties;
  if (missing) return missing.map((name) => `${instancePath}/${name}`);
  return [instancePath || '/'];
}

function eventsOf(text: string) {
  const texts = elementsOf(lastMember(text, 'events') ?? '[]');
  const tooMuch = texts.length > MAX_BATCH_EVENTS ? ['/events'] : [];
  const events = texts.map((event, index) => {
    const payload = lastMember(event, 'payload') ?? '{}';
    const isTooMuch = Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES || depthOf(payload) > MAX_PAYLOAD_DEPTH;
    if (isTooMuch) tooMuch.push(`/events/${index}/payload`);
    return { eventType: JSON.parse(lastMember(event, 'eventType') ?? 'null'), payload };
  });
  return { events, tooMuch };
}

const STRING = /"(?:[^"\\]|\\.)*"/g;

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.replace(STRING, '').matchAll(/[[\]{}]/g)) {
    depth += bracket === '{' || bracket === '[' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Text of the last member of that name, which is the one that counts. */
function lastMember(text: string, name: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  const member = partsOf(text).findLast((part) => JSON.parse(nameIn(part)) === name);
  return member?.slice(nameIn(member).length).replace(/^\s*:\s*/, '');
}

const nameIn = (member: string) => member.match(STRING)?.[0] ?? '';

const elementsOf = (text: string) => (text.startsWith('[') ? partsOf(text) : []);

/** The texts between the commas of a container, without the space around them. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 1;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    if (depth > 1 || (depth === 1 && token !== ',')) continue;
    const part = text.slice(start, index).trim();
    if (part !== '') parts.push(part);
    start = index + 1;
  }
  return parts;
}
