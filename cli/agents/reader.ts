import type { JsonObject, RecordPlace } from './agent.ts';
import { type Draft, draft, type Fields } from './compose.ts';
import type { Path, Remainder } from './remainder.ts';
import { lengthAt, peekText, takeFirstText, takeText } from './typed.ts';

/** Readers of the kinds that several agents have, told where their texts stand. */

export type Reader = (remainder: Remainder, place: RecordPlace) => Draft[];

export type Readers = readonly (readonly [kind: string, Reader])[];

type Facts = Fields<'session.meta'>;

type Places = { [Fact in Exclude<keyof Facts, 'titleBy'>]?: Path };

/** Facts of the session. A record that changes what has no word in the vocabulary keeps it in `rest`. */
export const facts =
  (places: Places, titleBy?: Facts['titleBy']): Reader =>
  (remainder) => {
    const taken = Object.entries(places).map(([fact, path]) => [fact, takeText(remainder, ...path)]);
    return [draft('session.meta', { ...Object.fromEntries(taken), titleBy })];
  };

/** The first of the texts is what the person is told. */
export const notice =
  (kind: string, ...texts: Path[]): Reader =>
  (remainder) => [draft('notice', { text: takeFirstText(remainder, ...texts), kind })];

/** The first of the texts was put before the model. */
export const context =
  (kind: string, ...texts: Path[]): Reader =>
  (remainder) => [draft('context.message', { text: takeFirstText(remainder, ...texts), kind })];

/** A known kind that says nothing a reader of the session asks for, or what another record says. */
export const quiet =
  (kind: string): Reader =>
  () => [draft('record', { kind })];

/** A key for agents that give each record an id and a time, both of which a copy keeps. */
export function keyOf({ type, timestamp, ...record }: JsonObject, idName: string): string | undefined {
  const id = Object.hasOwn(record, idName) ? record[idName] : undefined;
  // Without a time, such as in a header that is written again with another title, the id alone could lose a record.
  if (typeof id !== 'string' || id.length < 8 || !isTime(timestamp)) return undefined;
  return [id, type, timestamp].filter((part) => typeof part === 'string').join(' ');
}

/** Words in its place, as where a transcript was made anonymous, tell no record from another. */
export const isTime = (timestamp: unknown): timestamp is string =>
  typeof timestamp === 'string' && !Number.isNaN(Date.parse(timestamp));

/** The paths of the elements of a list. */
export const elementsAt = (remainder: Remainder, ...list: Path): Path[] =>
  Array.from({ length: lengthAt(remainder, ...list) }, (_, index) => [...list, index]);

/** Text that says something, without taking it. */
export const peekWords = (remainder: Remainder, ...path: Path): string | undefined =>
  peekText(remainder, ...path) || undefined;

/** How many images are among the elements of a list, told by their type or that of their data. */
export function countImages(remainder: Remainder, ...list: Path): number | undefined {
  const isImage = (at: Path) =>
    peekText(remainder, ...at, 'type') === 'image' ||
    IMAGE_TYPES.some((path) => peekText(remainder, ...at, ...path)?.startsWith('image/'));
  return elementsAt(remainder, ...list).filter(isImage).length || undefined;
}

const IMAGE_TYPES: readonly Path[] = [['mimeType'], ['inlineData', 'mimeType'], ['fileData', 'mimeType']];
