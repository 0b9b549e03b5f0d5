import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { Agent, JsonObject, RecordPlace } from '../agent.ts';
import { compose, type Envelope, type Reader, type Readers, readerOf, shareText } from './events.ts';
import { type Part, partOf, peekText, takeSame, takeText } from './part.ts';

/** The common form of an agent's records. */
interface Form {
  agent: Agent['id'];
  /** The kind of a record. It selects the reader, and names a record without a reader. Defaults to `type`. */
  kindOf?(part: Part): string;
  readers: Readers;
  /** Reads fields that every record has. */
  readAlso?: Reader;
  /** Paths to a record's name, its parent's name, its time and the agent's version. The first path with text counts. */
  envelope: { readonly [Field in 'record' | 'parent' | 'occurredAt' | 'agentVersion']?: string | readonly string[] };
  /** The revision of a record that may be written again. */
  writingOf?(part: Part, place: RecordPlace): Pick<Envelope, 'record' | 'revision'>;
  /** Where it repeats its session's or sub-agent's id. */
  origin?: { readonly [where: string]: 'session' | 'subagent' };
  /** Where it stores a value once for all its events, such as the model. */
  shared?: { readonly [field: string]: string };
  /** Its place, if it does not belong to the session of the file. */
  placeOf?(part: Part, place: RecordPlace): RecordPlace;
}

/** A parser for records that contain their kind as a word. */
export function parser({ agent, kindOf = typeOf, readers, readAlso, writingOf, placeOf, shared, ...form }: Form) {
  const envelope = Object.entries(form.envelope).map(([field, where]) => ({ field, places: [where].flat() }));
  const origin = Object.entries(form.origin ?? {});
  return (record: JsonObject, placeInFile: RecordPlace): CapturedEvent[] => {
    const part = partOf(record);
    const place = placeOf?.(part, placeInFile) ?? placeInFile;
    const kind = kindOf(part);
    const said: Envelope = { agent, ...writingOf?.(part, place) };
    const drafts = readerOf(readers, kind)?.(part, place) ?? [];
    if (shared !== undefined) shareText(part, drafts, shared);
    const also = readAlso?.(part, place) ?? [];
    for (const [where, fact] of origin) takeSame(part, where, place.origin[fact]);
    for (const { field, places } of envelope) said[field as keyof typeof form.envelope] = takeText(part, ...places);
    return compose(part, place, said, [...drafts, ...also], kind || undefined);
  };
}

const typeOf = (part: Part): string => peekText(part, 'type') ?? '';
