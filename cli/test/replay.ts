import { DatabaseSync } from 'node:sqlite';

type Row = Record<string, null | number | bigint | string | Uint8Array>;

/** A write of a row, and its time in milliseconds. */
interface Write {
  at: number;
  table: string;
  row: Row;
  /** Whether the write changes an existing row. */
  isChange: boolean;
}

/** Writes the rows of a database in the order of their times. A changed row is first written in a plausible earlier version. */
export function replay(from: string, to: string, steps: number): (() => void)[] {
  const source = new DatabaseSync(from, { readOnly: true, readBigInts: true });
  const objects = source.prepare("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").all();
  const tables = objects.filter(({ type }) => type === 'table').map(({ name }) => String(name));
  const rows = tables.flatMap((table) =>
    source
      .prepare(`SELECT * FROM "${table}"`)
      .all()
      .map((row) => ({ table, row: row as Row })),
  );
  source.close();
  const writes = rows.flatMap(({ table, row }) => writesOf(table, row)).sort((one, other) => one.at - other.at);
  const counters = rows.filter(({ table }) => table === COUNTER);

  const run = (step: number) => {
    const db = new DatabaseSync(to, { enableForeignKeyConstraints: false });
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('BEGIN');
    if (step === 0) for (const { sql } of objects) if (sql !== null) db.exec(String(sql));
    const part = writes.slice((writes.length * step) / steps, (writes.length * (step + 1)) / steps);
    for (const write of part) put(db, write);
    // The counter table counts the changes of each session.
    for (const { row } of counters)
      put(db, { at: 0, table: COUNTER, row: { ...row, seq: Number(row.seq) - steps + step + 1 }, isChange: step > 0 });
    db.exec('COMMIT');
    db.close();
  };
  return Array.from({ length: steps }, (_, step) => () => run(step));
}

const COUNTER = 'event_sequence';

function writesOf(table: string, row: Row): Write[] {
  if (table === COUNTER) return [];
  const created = Number(row.time_created ?? row.created_timestamp ?? 0);
  const changed = Number(row.time_updated ?? created);
  const whole = { at: changed, table, row };
  if (changed <= created) return [{ ...whole, isChange: false }];
  const before = { ...row, time_updated: created, ...(typeof row.data === 'string' && { data: unfinish(row.data) }) };
  return [
    { at: created, table, row: before, isChange: false },
    { ...whole, isChange: true },
  ];
}

/** An unfinished version of a message or part. */
function unfinish(data: string): string {
  // Some of the fixtures have truncated JSON.
  if (!data.endsWith('}')) return data;
  const value = JSON.parse(data) as { text?: string; state?: { input?: unknown }; time?: object };
  const { text, state, time } = value;
  return JSON.stringify({
    ...value,
    ...(typeof text === 'string' && { text: text.slice(0, text.length / 2) }),
    ...(state !== undefined && { state: { status: 'running', input: state.input } }),
    ...(time !== undefined && { time: { ...time, end: undefined, completed: undefined } }),
  });
}

function put(db: DatabaseSync, { table, row, isChange }: Write): void {
  const names = Object.keys(row).map((name) => `"${name}"`);
  const key = ['id', 'aggregate_id'].find((name) => name in row);
  const values = Object.values(row);
  if (!isChange || key === undefined) {
    const marks = names.map(() => '?');
    db.prepare(`INSERT OR REPLACE INTO "${table}" (${names.join()}) VALUES (${marks.join()})`).run(...values);
    return;
  }
  const changes = names.map((name) => `${name} = ?`);
  db.prepare(`UPDATE "${table}" SET ${changes.join()} WHERE ${key} = ?`).run(...values, row[key] ?? null);
}
