import { asText, type Loose } from '../../../transcript/entry/value.ts';

/** Image types that cannot run code, so not SVG. */
const TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const ADDRESS = /^data:(image\/\w+);base64,[A-Za-z0-9+/=]+$/;
const MAX_IMAGES = 8;
const MAX_VALUES = 5_000;
const LONGEST = 8_000_000;

/** The pictures anywhere in a payload, as data addresses. */
export function imagesOf(payload: unknown): string[] {
  const found: string[] = [];
  const waiting: unknown[] = [payload];
  for (let at = 0; at < Math.min(waiting.length, MAX_VALUES) && found.length < MAX_IMAGES; at++) {
    const value = waiting[at];
    if (typeof value === 'string') {
      if (value.length <= LONGEST && TYPES.has(ADDRESS.exec(value)?.[1] ?? '')) found.push(value);
      continue;
    }
    if (typeof value !== 'object' || value === null) continue;
    const own = Array.isArray(value) ? undefined : imageOf(value as Loose);
    if (own) found.push(own);
    // A hundred thousand values would be too many arguments for one call.
    else waiting.push(...Object.values(value).slice(0, MAX_VALUES));
  }
  return found;
}

/** `{ media_type, data }` of Claude, `{ mimeType, data }` of MCP. */
function imageOf({ media_type, mimeType, mediaType, data, base64 }: Loose): string | undefined {
  const type = asText(media_type) ?? asText(mimeType) ?? asText(mediaType) ?? '';
  const content = asText(data) ?? asText(base64);
  if (content === undefined || content.length > LONGEST || !TYPES.has(type)) return undefined;
  return /^[A-Za-z0-9+/=\s]+$/.test(content) ? `data:${type};base64,${content.replace(/\s/g, '')}` : undefined;
}
