import type { CapturedEvent } from '../../../contract/transcript.ts';
import { folderOf } from '../../read/record.ts';
import { findMarks } from '../mark.ts';
import { type Redactor, WITHHELD } from '../redactor.ts';
import { createLocator } from './locate.ts';
import { readUnits, type Unit } from './units.ts';

/** Something that would be masked. */
export interface Finding {
  rule: string;
  mark: string;
  /** From 1, where it begins in the file. */
  line: number;
  column: number;
  /** Which string of a record: `message.content.0.text`; absent in plain text. */
  path?: string;
  /** What is around it once it is masked. */
  context: string;
  /** The secret itself. */
  secret: string;
}

const BEFORE = 48;
const AFTER = 24;
const PLACE = { agent: 'test', session: 'test', file: '', position: 0 };

/** What capture would mask in a transcript, record by record, or in any other text as if a tool had printed it. */
export function findSecrets(redactor: Pick<Redactor, 'redact'>, text: string): Finding[] {
  const locate = createLocator(text);
  return readUnits(text).flatMap((unit) => {
    const folder = unit.record === undefined ? undefined : folderOf(unit.record);
    const before = unit.record ?? unit.text;
    const event: CapturedEvent = { eventType: 'record', payload: { source: PLACE, rest: before } };
    const { payload } = redactor.redact([event], { session: '', folder })[0] ?? event;
    if (payload.redactions === undefined) return [];
    if (WITHHELD in payload.redactions) {
      return [{ rule: WITHHELD, mark: '', ...locate(unit.start), context: '', secret: '' }];
    }
    return findChanges(before, restOf(payload)).flatMap((change) => describeChange(change, unit, locate));
  });
}

const restOf = (payload: CapturedEvent['payload']) => (payload as { rest?: unknown }).rest;

interface Change {
  path: string[];
  before: string;
  after: string;
}

/** The strings and keys that are not what they were, in the order of the record. Its shape is the same. */
function findChanges(before: unknown, after: unknown): Change[] {
  const changes: Change[] = [];
  const open: { path: string[]; before: unknown; after: unknown }[] = [{ path: [], before, after }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path } = next;
    if (typeof next.before === 'string' && next.before !== next.after) {
      changes.push({ path, before: next.before, after: String(next.after) });
    }
    if (typeof next.before !== 'object' || next.before === null) continue;
    const masked = Object.entries(next.after as object);
    const parts = Object.entries(next.before).map(([key, value], index) => {
      const [maskedKey = key, maskedValue] = masked[index] ?? [];
      if (maskedKey !== key) changes.push({ path, before: key, after: maskedKey });
      return { path: [...path, maskedKey], before: value as unknown, after: maskedValue as unknown };
    });
    open.push(...parts.reverse());
  }
  return changes;
}

function describeChange({ path, before, after }: Change, unit: Unit, locate: ReturnType<typeof createLocator>) {
  const token = unit.record === undefined ? 0 : unit.text.indexOf(JSON.stringify(before));
  return alignMarks(before, after).map(({ rule, mark, start, end, at }): Finding => {
    // In a record its place is that of the string; where it is written in another way than expected, of the record.
    const within = unit.record === undefined ? start : JSON.stringify(before.slice(0, start)).length - 1;
    return {
      rule,
      mark,
      ...locate(unit.start + (token < 0 ? 0 : token + within)),
      ...(unit.record !== undefined && { path: path.join('.') }),
      context: excerpt(after, at, mark.length),
      secret: before.slice(start, end),
    };
  });
}

/** Where in the original each new mark stands: what is between two marks was left as it was. */
function alignMarks(before: string, after: string) {
  const found: { rule: string; mark: string; start: number; end: number; at: number }[] = [];
  const marks = findMarks(after);
  let from = 0;
  let kept = 0;
  for (const [index, { start: at, end: atEnd }] of marks.entries()) {
    const start = from + at - kept;
    kept = atEnd;
    const mark = after.slice(at, atEnd);
    if (before.startsWith(mark, start)) {
      from = start + mark.length;
      continue;
    }
    const next = after.slice(atEnd, marks[index + 1]?.start);
    const isLast = index === marks.length - 1;
    from = Math.max(start, isLast ? before.length - next.length : before.indexOf(next, start + 1));
    found.push({ rule: mark.split(':')[1] ?? '', mark, start, end: from, at });
  }
  return found;
}

function excerpt(text: string, at: number, length: number): string {
  const lineStart = text.lastIndexOf('\n', at) + 1;
  const lineEnd = text.indexOf('\n', at + length);
  const from = Math.max(lineStart, at - BEFORE);
  const to = Math.min(lineEnd < 0 ? text.length : lineEnd, at + length + AFTER);
  return `${from > lineStart ? '…' : ''}${text.slice(from, to).trim()}${to < lineEnd ? '…' : ''}`;
}
