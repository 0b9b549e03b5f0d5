import type { JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { peekWords } from '../reader.ts';
import { remainderOf } from '../remainder.ts';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.jsonl$|$)/i;

/** The header says the session, and so does the file's name: `<time>_<session>.jsonl`. */
export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const header = remainderOf(first?.type === 'session' ? first : {});
  const named = UUID.exec(path)?.[0];
  const parent = peekWords(header, 'parentSession') ?? peekWords(header, 'branchedFrom');
  const facts = { cwd: peekWords(header, 'cwd'), forkedFrom: parent && (UUID.exec(parent)?.[0] ?? parent) };
  const present = Object.entries(facts).filter(([, value]) => value !== undefined);
  return { session: named ?? peekWords(header, 'id') ?? path.replace(/\.jsonl$/, ''), ...Object.fromEntries(present) };
}
