import type { ReactNode } from 'react';
import type { Figures, SessionFacts, SessionSummary, Usage } from '../../contract/review.ts';
import { type Charge, chargesOf, costAt, type Price, toDollars } from '../../transcript/entry/cost.ts';
import { useFacts } from '../app/queries.ts';
import { formatCost, formatCount, formatShort } from '../kit/format.ts';
import { showHidden } from '../kit/text/controls.ts';
import { useNames } from './group-names.ts';
import { ListPrices } from './list-prices.tsx';

type UsageRow = SessionFacts['usage'][number];

interface Props {
  rows: readonly UsageRow[];
  /** The day of the last review of the prices; absent until it is known. */
  pricesOf: string | undefined;
}

const KINDS: Record<keyof Price, string> = {
  input: 'input',
  cached: 'read from a cache',
  cacheWrite: 'cache for 5 minutes',
  cacheWrite1h: 'cache for one hour',
  output: 'output',
  webSearch: 'web searches',
};

/** How a cost is made: the tokens of each kind with their prices, the applied rules, and the tokens without a price. */
export function CostParts({ rows, pricesOf }: Props) {
  const sums = sumAlike(rows).filter((row) => chargesIn(row).length > 0);
  const unpriced = sums.filter(({ price }) => !price).reduce((sum, row) => sum + row.inputTokens + row.outputTokens, 0);
  return (
    <div className="cost-parts">
      <table>
        {sums
          .filter(({ price }) => price)
          .map((row) => (
            <tbody key={keyOf(row)}>
              <tr>
                <th colSpan={2} scope="rowgroup">
                  {showHidden(row.model) || 'a model without a name'}
                  <Rules row={row} />
                </th>
                <td className="num">{row.cost !== undefined && exactly(row.cost)}</td>
              </tr>
              {chargesIn(row).map((charge) => (
                <ChargeLine key={charge.kind} charge={charge} price={row.price} />
              ))}
            </tbody>
          ))}
      </table>
      {unpriced > 0 && <p>{formatShort(unpriced)} tokens of models without a known price are not included.</p>}
      <ListPrices pricesOf={pricesOf} />
    </div>
  );
}

function ChargeLine({ charge: { kind, count }, price }: { charge: Charge; price: Price | undefined }) {
  const each = price?.[kind];
  const unit = kind === 'webSearch' ? 1_000 : 1_000_000;
  return (
    <tr>
      <td className="num">{formatCount(count)}</td>
      <td>
        {KINDS[kind]}{' '}
        <span className="text-muted">
          {each === undefined ? 'no known price' : `× $${each} / ${unit === 1_000 ? '1,000' : '1M'}`}
        </span>
      </td>
      <td className="num text-muted">{each !== undefined && exactly((count * each) / unit)}</td>
    </tr>
  );
}

/** The parts are small, so that cents would not add up. */
const exactly = (dollars: number): string => `$${dollars.toFixed(4)}`;

const TERMS: Record<string, string> = {
  fast: 'fast mode',
  'in:us': 'inference in the US',
  'in:eu': 'inference in the EU',
};

function Rules({ row: { terms, above, unknownTerms = '' } }: { row: UsageRow }) {
  const unknown = new Set(unknownTerms.split('+'));
  const rules = terms.split('+').filter((term) => term !== '');
  const all = [
    ...rules.map((term) => {
      const name = TERMS[term] ?? showHidden(term);
      return unknown.has(term) ? `${name}: price unknown, the normal one is taken` : name;
    }),
    ...(above === undefined ? [] : [wordLength(above)]),
  ];
  return <span className="text-muted">{all.map((rule) => ` · ${rule}`).join('')}</span>;
}

/** Some vendors count a limit itself as short, others as long. */
const wordLength = (above: number): string =>
  above % 1_000 === 999
    ? `prompts from ${formatCount(above + 1)} tokens on`
    : `prompts over ${formatCount(above)} tokens`;

const countsOf = (row: UsageRow) => ({
  input: row.inputTokens,
  cacheRead: row.cachedTokens,
  cacheWrite: row.cacheWriteTokens,
  cacheWrite1h: row.cacheWrite1hTokens,
  output: row.outputTokens,
  webSearches: row.webSearches,
});

const chargesIn = (row: UsageRow): Charge[] => chargesOf(countsOf(row)).filter(({ count }) => count > 0);

const keyOf = ({ model, terms, above, price }: UsageRow): string => JSON.stringify([model, terms, above, price]);

/** One row for all days with the same price. */
function sumAlike(rows: readonly UsageRow[]): UsageRow[] {
  return [...Map.groupBy(rows, keyOf).values()].map((alike) => {
    const sum = (
      name: 'inputTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'cacheWrite1hTokens' | 'outputTokens' | 'webSearches',
    ) => alike.reduce((total, row) => total + row[name], 0);
    const total: UsageRow = {
      ...(alike[0] as UsageRow),
      inputTokens: sum('inputTokens'),
      cachedTokens: sum('cachedTokens'),
      cacheWriteTokens: sum('cacheWriteTokens'),
      cacheWrite1hTokens: sum('cacheWrite1hTokens'),
      outputTokens: sum('outputTokens'),
      webSearches: sum('webSearches'),
    };
    return total.price ? { ...total, cost: toDollars(costAt(total.price, countsOf(total))) } : total;
  });
}

interface SessionProps {
  summary: SessionSummary;
  /** Shown below the parts. */
  more?: ReactNode;
}

/** How the cost of a session is made. */
export function SessionCostParts({ summary, more }: SessionProps) {
  const { data, isError } = useFacts(summary.sessionId, summary.summarizedThrough);
  if (isError) return <p>The parts of the cost could not be read. Close this and press the cost again.</p>;
  if (!data) return <p className="text-muted">Reading…</p>;
  const isOutputAlone = summary.inputTokens === 0 && summary.outputTokens > 0;
  return (
    <>
      <CostParts rows={data.usage} pricesOf={data.pricesOf} />
      {isOutputAlone && <p>The agent did not record input tokens, so this is the cost of output.</p>}
      {more}
    </>
  );
}

interface FiguresProps {
  figures: Figures;
  usage: Usage;
}

/** The tokens behind the cost of many sessions and, for all sessions, the cost of each model. */
export function FiguresCostParts({ figures, usage }: FiguresProps) {
  const { unpricedTokens = 0 } = figures;
  return (
    <div className="cost-parts">
      {figures === usage.total && <Models usage={usage} />}
      <Lines
        lines={[
          ['input', formatCount(figures.inputTokens - figures.cachedTokens)],
          ['read from a cache', formatCount(figures.cachedTokens)],
          ['output', formatCount(figures.outputTokens)],
        ]}
      />
      {unpricedTokens > 0 && (
        <p>{formatShort(unpricedTokens)} tokens of models without a known price are not included.</p>
      )}
      <p className="text-muted">The cost of a session shows its prices and the applied rules.</p>
      <ListPrices pricesOf={usage.pricesOf} />
    </div>
  );
}

function Models({ usage }: Pick<FiguresProps, 'usage'>) {
  const { nameOf } = useNames();
  const models = usage.groups
    .filter(({ dimension, cost }) => dimension === 'model' && cost !== undefined)
    .toSorted((one, other) => (other.cost ?? 0) - (one.cost ?? 0));
  return <Lines lines={models.map((group) => [nameOf(group), formatCost(group.cost ?? 0)])} />;
}

const Lines = ({ lines }: { lines: readonly [name: string, figure: string][] }) => (
  <table>
    <tbody>
      {lines.map(([name, figure]) => (
        <tr key={name}>
          <td>{name}</td>
          <td className="num">{figure}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
