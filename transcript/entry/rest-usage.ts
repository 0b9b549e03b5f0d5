import { asObject, type Loose } from './value.ts';

/** The usage of a response in the form of Anthropic's API. */
export type ClaudeUsage = Loose;

/**
 * Where the rest of a record has fields of a usage that earlier versions of the command line did not name. If several places have a
 * field, the first one counts.
 */
const PLACES: readonly [field: string, ...path: string[]][] = [
  ['cacheWrite1hTokens', 'message', 'usage', 'cache_creation', 'ephemeral_1h_input_tokens'],
  ['webSearches', 'message', 'usage', 'server_tool_use', 'web_search_requests'],
  ['speed', 'message', 'usage', 'speed'],
  ['tier', 'message', 'usage', 'service_tier'],
  ['region', 'message', 'usage', 'inference_geo'],
  ['tier', 'payload', 'service_tier'],
  ['tier', 'payload', 'thread_settings', 'service_tier'],
  ['model', 'payload', 'model'],
];

/** The names of figures of responses in the rest of a record. */
export const REST_USAGE: ReadonlySet<string> = new Set([
  ...PLACES.map((place) => place.at(-1) as string),
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
]);

/** The fields of a usage that the rest of a record has. A field that is null is the vendor's normal value. */
export function readRest(rest: unknown): Loose {
  const found: Record<string, unknown> = {};
  for (const [field, ...path] of PLACES) {
    const value = path.reduce<unknown>((at, name) => asObject(at)[name], rest);
    if (value !== undefined && !Object.hasOwn(found, field)) found[field] = value ?? 'standard';
  }
  return found;
}
