import type { Db } from '../store/schema.ts';
import { rememberSetting, replaceSetting } from '../store/settings.ts';
import { VERSION } from './facts.ts';

/*
 * The version of derived data consists of the version of the rules, and of the number of the prices. Data of an earlier version is
 * derived again, so new prices apply to earlier sessions. The numbers grow, so that during a rolling upgrade a process with the
 * earlier prices leaves what a process with the later prices has derived.
 */

const SETTING = 'prices';
/** More than the number of times that prices change before the next version of the rules. */
const MAX_PRICES = 100_000;

const versionWith = (prices: number): number => VERSION * MAX_PRICES + prices;

/** The earliest and the latest version whose facts have the form that this release reads. */
export const VERSIONS_OF_FORM = [versionWith(0), versionWith(MAX_PRICES - 1)] as const;

/** Whether data of the version differs from that of the current one by its prices only. */
export const hasRulesOf = (version: number, current: number): boolean =>
  Math.trunc(version / MAX_PRICES) === Math.trunc(current / MAX_PRICES);

export const hasFormOf = (version: number): boolean => version >= VERSIONS_OF_FORM[0] && version <= VERSIONS_OF_FORM[1];

/** Reads the version of derived data with these prices. Other prices than those of the last start get the next number. */
export async function readVersion(db: Db, fingerprint: string): Promise<number> {
  for (;;) {
    const known = await rememberSetting(db, SETTING, () => `1 ${fingerprint}`);
    const [number = '0', last] = known.split(' ');
    if (last === fingerprint) return versionWith(Number(number));
    const next = (Number(number) + 1) % MAX_PRICES;
    if (await replaceSetting(db, SETTING, known, `${next} ${fingerprint}`)) return versionWith(next);
  }
}
