import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { OVERRIDES } from './overrides.ts';
import { PriceRow } from './price-row.ts';
import { TERMS } from './terms.ts';

const PriceFile = Type.Object({
  /** The day of the last review. */
  date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  models: Type.Array(PriceRow),
});

/** The release of `@pydantic/genai-prices` that has the prices of most models, and the day of the release. */
export const LIBRARY = { version: '0.1.8', date: '2026-09-23' };

/** What is known of the prices without loading them. */
export interface PriceList {
  /** The day of the last review, YYYY-MM-DD. */
  date: string;
  /** Distinguishes these prices from others. */
  fingerprint: string;
  /** Rows of the operator's own file. */
  rows: readonly PriceRow[];
}

/** The day on which our own rows were last compared with the pages of the vendors. */
const REVIEWED = '2026-11-28';

/**
 * @param file replaces the prices of the models in it
 * @throws Error that says what is wrong with the file
 */
export function readPriceList(file?: string): PriceList {
  const own = JSON.stringify([LIBRARY, REVIEWED, OVERRIDES, TERMS]);
  if (file === undefined) return { date: REVIEWED, fingerprint: hash('sha256', own), rows: [] };
  try {
    const text = readFileSync(file, 'utf8');
    return { ...parse(text), fingerprint: hash('sha256', own + text) };
  } catch (error) {
    throw new Error(`PRICES_FILE ${file} cannot be used: ${(error as Error).message}`);
  }
}

function parse(text: string): Omit<PriceList, 'fingerprint'> {
  const list: unknown = JSON.parse(text);
  const [error] = Value.Errors(PriceFile, list);
  if (error) throw new Error(`the prices are not as expected: ${error.instancePath} ${error.message}`);
  const { date, models } = list as Static<typeof PriceFile>;
  return { date, rows: models };
}
