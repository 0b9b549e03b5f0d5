import type { JsonObject } from '../../agents/agent.ts';
import { parseExact } from '../../read/exact.ts';

/** A piece of a file that is masked by itself: a record, or text. */
export interface Unit {
  text: string;
  /** Its offset in the file. */
  start: number;
  record?: JsonObject;
}

/** The records of a transcript (lines of JSON, or one document); else the text as a whole. */
export function readUnits(text: string): Unit[] {
  const lines = readLines(text);
  const first = lines.find((line) => line.text.trim() !== '');
  if (first !== undefined && readRecord(first.text) !== undefined) return lines.map(withRecord);
  return [withRecord({ text, start: 0 })];
}

function readLines(text: string): Unit[] {
  const lines: Unit[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const next = end < 0 ? text.length : end + 1;
    lines.push({ text: text.slice(start, next), start });
    start = next;
  }
  return lines;
}

function withRecord(unit: Unit): Unit {
  const record = readRecord(unit.text);
  return record === undefined ? unit : { ...unit, record };
}

/** Objects and lists only: a line that is a number or a string is text. */
function readRecord(text: string): JsonObject | undefined {
  if (!/^\s{0,64}[[{]/.test(text)) return undefined;
  try {
    return parseExact(text) as JsonObject;
  } catch {
    return undefined;
  }
}
