import { DatabaseSync } from 'node:sqlite';

export const ROW_TYPES_FILE = 'server/store/schema.gen.ts';

/** A library reads and writes it, so it has no row type. */
const OF_LIBRARIES = new Set(['rate_limits']);

/** Names that are no regular singular of their table. */
const IRREGULAR: Record<string, string> = {
  session_facts: 'SessionFactsRow',
  session_salts: 'SessionSaltsRow',
  stored_bytes: 'StoredBytesRow',
};

interface Column {
  name: string;
  type: string;
  about: string;
  hasDefault: boolean;
  /** Its place in the primary key, from 1 on; 0 if it is no part of it. */
  placeInKey: number;
}

interface Table {
  name: string;
  about: string;
  columns: Column[];
}

/** Makes the types of all rows from the statements of the schema for SQLite. */
export function rowTypes(statements: readonly string[]): string {
  const tables = readTables(statements);
  const types = tables.flatMap(({ columns }) => columns.map(({ type }) => type.replaceAll(/'\w+'/g, '')));
  const named = new Set(types.flatMap((type) => type.match(/\b[A-Z]\w+/g) ?? []));
  named.delete('Uint8Array');
  const parts = [
    '/* This file is generated from `server/store/migrations/` by `npm run generate`. */',
    `import type { ${[...named].toSorted().join(', ')} } from './column-types.ts';`,
    ...tables.map(interfaceOf),
    `/** The rows of all tables. */\nexport interface Database {\n${tables.map(({ name }) => `  ${name}: ${rowOf(name)};\n`).join('')}}`,
    `/** The columns with a default, which an insertion may leave out. */\nexport interface Defaults {\n${tables.map(defaultsOf).join('')}}`,
    `/** The columns of the primary keys. */\nexport const PRIMARY_KEYS = {\n${tables.map(keyOf).join('')}} as const satisfies { [Name in keyof Database]: readonly (keyof Database[Name])[] };`,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Reads the tables that the statements create and extend. The engine knows the columns, and the statements have the comments. */
export function readTables(statements: readonly string[]): Table[] {
  const db = new DatabaseSync(':memory:');
  try {
    for (const statement of statements) db.exec(statement);
    return statements.flatMap((statement) => {
      const name = statement.match(/^create table (\w+) \(/m)?.[1];
      if (name === undefined || OF_LIBRARIES.has(name)) return [];
      const [about = '', body = ''] = statement.split(/^create table .*\n/m);
      const later = statements.filter((other) => new RegExp(`^alter table ${name} add column `, 'm').test(other));
      return [{ name, about: textOf(about), columns: columnsOf(db, name, [body, ...later].join('\n')) }];
    });
  } finally {
    db.close();
  }
}

function columnsOf(db: DatabaseSync, table: string, body: string): Column[] {
  const described = new Map<string, { about: string; type: string | undefined }>();
  // SQLite would break the table if a comment followed the column that is added to it, so there it stands above.
  const lines = /((?:^ *-- .*\n)*)(?:^--: (.*)\n)?^(?: +|alter table \w+ add column )(\w+) .*?(?:--: (.*))?$/gm;
  for (const [, about = '', above, name = '', type = above] of body.matchAll(lines)) {
    described.set(name, { about: textOf(about), type });
  }
  const columns = db
    .prepare('select name, type, "notnull" as isRequired, dflt_value as preset, pk from pragma_table_info(?)')
    .all(table)
    .map((info) => {
      const name = String(info.name);
      const { about = '', type } = described.get(name) ?? {};
      const isInKey = info.pk !== 0;
      const isNullable = info.isRequired === 0 && !isInKey;
      // SQLite counts this key up.
      const isCounted = isInKey && info.type === 'INTEGER' && /autoincrement/.test(body);
      return {
        name,
        type: `${type ?? typeOf(name, String(info.type).toLowerCase())}${isNullable ? ' | null' : ''}`,
        about,
        hasDefault: info.preset !== null || isCounted,
        placeInKey: Number(info.pk),
      };
    });
  const names = new Set(columns.map(({ name }) => name));
  for (const [name, { type }] of described) {
    if (type !== undefined && !names.has(name))
      throw new Error(`A comment in ${table} names the type of ${name}, which is no column.`);
  }
  return columns;
}

/** @throws if the type of the column has no counterpart in TypeScript */
function typeOf(name: string, type: string): string {
  if (type === 'text') return 'string';
  if (type === 'blob') return 'Uint8Array';
  if (type === 'bigint' && /(^|_)at$/.test(name)) return 'Time';
  if (type === 'integer' || type === 'bigint' || type === 'double precision') return 'number';
  throw new Error(`${name} is a column of the type ${type}. Add the type of its values to script/row-types.ts.`);
}

/** The text of comment lines. */
const textOf = (comment: string): string => comment.replaceAll(/^ *-- /gm, '').trim();

function rowOf(table: string): string {
  const regular = table
    .replace(/ies$/, 'y')
    .replace(/s$/, '')
    .replaceAll(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase());
  return IRREGULAR[table] ?? `${regular}Row`;
}

const interfaceOf = ({ name, about, columns }: Table): string =>
  `${docOf(about, '')}export interface ${rowOf(name)} {\n${columns
    .map((column) => `${docOf(column.about, '  ')}  ${column.name}: ${column.type};\n`)
    .join('')}}`;

function docOf(text: string, indent: string): string {
  if (text === '') return '';
  const lines = text.split('\n');
  if (lines.length === 1) return `${indent}/** ${text} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

function defaultsOf({ name, columns }: Table): string {
  const names = columns.filter(({ hasDefault }) => hasDefault).map((column) => `'${column.name}'`);
  return names.length === 0 ? '' : `  ${name}: ${names.join(' | ')};\n`;
}

function keyOf({ name, columns }: Table): string {
  const key = columns.filter(({ placeInKey }) => placeInKey > 0).toSorted((a, b) => a.placeInKey - b.placeInKey);
  return `  ${name}: [${key.map((column) => `'${column.name}'`).join(', ')}],\n`;
}
