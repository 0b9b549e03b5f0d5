import type { CapturedEvent } from '../../../contract/transcript.ts';
import type { Agent, JsonObject, RecordPlace } from '../agent.ts';
import { compose, type Envelope, type Reader, type Readers, readerOf, shareText } from './events.ts';
import { type Part, partOf, peekText, takeSame, takeText } from './part.ts';

/** What the records of an agent have in common. */
interface Form {
  agent: Agent['id'];
  /** What a record is: this finds its reader, and names a record that none reads. By default its `type`. */
  kindOf?(part: Part): string;
  readers: Readers;
  /** Fields of every record. */
  readAlso?: Reader;
  /** Paths to a record's name, its parent's name, its time and the agent's version; the first path with text counts. */
  envelope: { readonly [Field in 'record' | 'parent' | 'occurredAt' | 'agentVersion']?: string | readonly string[] };
  /** The revision of a record that may be written again. */
  writingOf?(part: Part, place: RecordPlace): Pick<Envelope, 'record' | 'revision'>;
  /** Where it repeats which session or sub-agent it is of. */
  origin?: { readonly [where: string]: 'session' | 'subagent' };
  /** Where it says once what all its events tell, such as the model. */
  shared?: { readonly [field: string]: string };
  /** Where it stands, if not among the records of the file's session. */
  placeOf?(part: Part, place: RecordPlace): RecordPlace;
}

/** A parser for records whose kind is a word in them. */
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
