import { describe, expect, test } from 'vitest';
import { rowTypes } from './row-types.ts';

const NOTES = `
-- Notes of members.
create table notes (
  note_id text primary key,
  -- Who may read it.
  -- Null: everybody.
  audience text, --: 'team' | Role
  size integer default 0 not null,
  body blob not null,
  written_at bigint not null,
  constraint notes_name unique (audience, note_id)
)`;

describe('the types of rows', () => {
  test('have the columns, comments and named types of the statements', () => {
    const types = rowTypes([NOTES, 'create index notes_by_size on notes (size)']);
    expect(types).toContain("import type { Role, Time } from './column-types.ts';");
    expect(types).toContain(`/** Notes of members. */
export interface NoteRow {
  note_id: string;
  /**
   * Who may read it.
   * Null: everybody.
   */
  audience: 'team' | Role | null;
  size: number;
  body: Uint8Array;
  written_at: Time;
}`);
  });

  test('say which columns have a default, and which are the primary key in its order', () => {
    const pairs = 'create table pairs (\n  a text not null,\n  b text not null,\n  constraint k primary key (b, a)\n)';
    const types = rowTypes([NOTES, pairs]);
    expect(types).toContain("export interface Defaults {\n  notes: 'size';\n}");
    expect(types).toContain("pairs: ['b', 'a'],");
  });

  test('have the columns that a later change adds', () => {
    const added = "-- Where it was written.\n--: 'home' | 'office'\nalter table notes add column place text";
    const types = rowTypes([NOTES, added, 'alter table notes add column left_at bigint']);
    expect(types).toContain(
      "  /** Where it was written. */\n  place: 'home' | 'office' | null;\n  left_at: Time | null;\n}",
    );
  });

  test('are not made if a column has a type without a counterpart, or a comment names the type of no column', () => {
    expect(() => rowTypes(['create table notes (\n  at timestamp\n)'])).toThrow('at is a column of the type timestamp');
    expect(() => rowTypes(["create table notes (\n  a text,\n  constraint b unique (a) --: 'c'\n)"])).toThrow(
      'constraint',
    );
  });
});
