import { isOwn, tokensOf } from '../../../redact/json-places.ts';
import { findMarks } from '../../../redact/mark.ts';
import { endOf, readEscaped, startOf } from '../../../redact/places.ts';
import { createRedactor } from '../../../redact/redactor.ts';
import type { CapturedEvent } from '../../../transcript/vocabulary.ts';
import type { Finder, Replacement } from './finder.ts';

/** The masked form of each changed text of an event, by its original. */
interface Changed {
  keys: Map<string, string>;
  values: Map<string, string>;
}

/** A private key of 16,384 bits takes 13,000 characters, and a few more if it is escaped. */
const MAX_SECRET = 64 * 1024;

/**
 * Finds what the current rules mask in the events of a session. The events must come in order, because a secret that was found
 * once is found in every later event. If a string of an event is masked, every equal string of the event is masked, too.
 * @param key the key for the digests in marks
 * @param onMark called with each mark that replaces a piece
 */
export function findByRules(
  key: Uint8Array,
  sessionId: string,
  onMark: (mark: string) => void = () => undefined,
): Finder {
  const redactor = createRedactor({ trustsMarks: true, key });

  function redact(payload: object): object {
    const [masked] = redactor.redact([{ eventType: 'notice', payload } as unknown as CapturedEvent], {
      session: sessionId,
    });
    return masked?.payload ?? payload;
  }

  function told(places: Replacement[]): Replacement[] {
    for (const { text } of places) onMark(text);
    return places;
  }

  const inText = (text: string) => {
    const { text: masked = text } = redact({ text }) as { text?: string };
    return masked === text ? [] : told(placesOf(text, masked));
  };

  function inJson(json: string): Replacement[] {
    const { redactions: _, ...fields } = JSON.parse(json) as Record<string, unknown>;
    const { redactions: __, ...masked } = redact(fields) as Record<string, unknown>;
    const changed: Changed = { keys: new Map(), values: new Map() };
    compare(fields, masked, changed);
    return changed.keys.size + changed.values.size === 0 ? [] : told(placesIn(json, changed));
  }

  // Apart from its slice, a part only says where its record came from. No rule applies to that.
  return { reach: MAX_SECRET, inText, inJson, inPart: () => [] };
}

function compare(before: unknown, after: unknown, changed: Changed): void {
  if (before === after) return;
  if (typeof before === 'string' && typeof after === 'string') changed.values.set(before, after);
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return;
  const [from, to] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const masked = Object.keys(to).filter((key) => !Object.hasOwn(from, key));
  for (const key of Object.keys(from)) {
    const name = Object.hasOwn(to, key) ? key : masked.shift();
    if (name === undefined) continue;
    if (name !== key) changed.keys.set(key, name);
    compare(from[key], to[name], changed);
  }
}

function placesIn(json: string, { keys, values }: Changed): Replacement[] {
  const found: Replacement[] = [];
  for (const token of tokensOf(json)) {
    if (token.kind === 'number' || isOwn(token)) continue;
    const begin = token.start + 1;
    const level = readEscaped(json.slice(begin, token.end - 1));
    const masked = (token.kind === 'key' ? keys : values).get(level.text);
    if (masked === undefined) continue;
    for (const { start, end, text } of placesOf(level.text, masked)) {
      const isEmpty = start === end;
      const from = start < level.text.length ? startOf(level, start) : token.end - 1 - begin;
      const to = isEmpty ? from : endOf(level, end - 1);
      found.push({ start: begin + from, end: begin + to, text: JSON.stringify(text).slice(1, -1) });
    }
  }
  return found;
}

/**
 * Finds the pieces of a text that marks have replaced. The text between two marks occurs in both texts, so replacing the pieces
 * gives the masked text, even if the original could be divided differently.
 */
export function placesOf(before: string, after: string): Replacement[] {
  const places: Replacement[] = [];
  let from = 0;
  let literal = 0;
  let mark: string | undefined;
  for (const { start, end } of [...findMarks(after), { start: after.length, end: after.length }]) {
    const kept = after.slice(literal, start);
    const isLast = start === after.length;
    const at = isLast ? before.length - kept.length : before.indexOf(kept, from);
    if (at < from || !before.startsWith(kept, at) || (mark === undefined && at !== 0)) {
      return [{ start: 0, end: before.length, text: after }];
    }
    if (mark !== undefined && before.slice(from, at) !== mark) places.push({ start: from, end: at, text: mark });
    from = at + kept.length;
    literal = end;
    mark = after.slice(start, end);
  }
  return places;
}
