import type { Context } from '../context.ts';
import { renderText } from '../help/page.ts';
import { VERSION } from '../version.ts';
import type { Examined } from './examine.ts';
import type { Outcome } from './finding.ts';

const WORDS: { readonly [outcome in Outcome]: string } = {
  ok: 'OK',
  warning: 'Warning',
  failed: 'Failed',
  skipped: 'Skipped',
};
const MARGIN = 11;
/** Longer lines are hard to read, however wide the terminal is. */
const MAX_WIDTH = 110;

export type Summary = { [outcome in Outcome]: number };

export function summarize(examined: readonly Examined[]): Summary {
  const count = (outcome: Outcome) => examined.filter((one) => one.outcome === outcome).length;
  return { ok: count('ok'), warning: count('warning'), failed: count('failed'), skipped: count('skipped') };
}

/** For programs and for reports of bugs: the home is `~`, and what the findings keep private is left out. */
export function reportExamined({ platform, home }: Pick<Context, 'platform' | 'home'>, examined: readonly Examined[]) {
  return {
    version: VERSION,
    platform,
    summary: summarize(examined),
    checks: examined.map(({ area, check, outcome, sentence, fix }) => ({
      ...{ area, check, outcome, sentence: withoutHome(sentence, home) },
      ...(fix !== undefined && { fix: withoutHome(fix, home) }),
    })),
  };
}

/** For people: a sentence a finding, below it what mends it, as it is typed. */
export function describeExamined(
  { stdout, home }: Pick<Context, 'stdout' | 'home'>,
  examined: readonly Examined[],
): string[] {
  const width = stdout.isTTY ? Math.min(MAX_WIDTH, stdout.columns ?? 80) - MARGIN : Number.POSITIVE_INFINITY;
  const margin = ' '.repeat(MARGIN);
  const lines: string[] = [];
  let area = '';
  for (const one of examined) {
    if (one.area !== area) lines.push(...(area === '' ? [] : ['']), one.area);
    area = one.area;
    const [first = '', ...rest] = renderText([withoutHome(one.sentence, home)], width);
    lines.push(`  ${WORDS[one.outcome].padEnd(MARGIN - 2)}${first}`, ...rest.map((line) => margin + line));
    for (const line of one.private?.slice(0, MAX_PRIVATE) ?? []) lines.push(`${margin}- ${withoutHome(line, home)}`);
    if (one.fix !== undefined) lines.push(`${margin}→ ${one.fix}`);
  }
  const { ok, warning, failed, skipped } = summarize(examined);
  return [...lines, '', `${ok} OK, ${plural(warning, 'warning')}, ${failed} failed, ${skipped} skipped.`];
}

const MAX_PRIVATE = 5;
const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;
/** Nor what an address may hold before its host. */
const withoutHome = (text: string, home: string) =>
  (home.length > 1 ? text.replaceAll(home, '~') : text).replace(/(:\/\/)[^/@\s]*@/g, '$1');
