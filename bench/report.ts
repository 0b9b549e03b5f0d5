/** A row of the table of results. */
export interface Row {
  what: string;
  /** NaN if it could not be measured; the detail then gives the reason. */
  figure: number;
  unit: string;
  goal: string;
  detail: string;
}

export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ what, figure, unit, goal, detail }) =>
      `| ${what} | ${Number.isNaN(figure) ? '–' : `${round(figure)} ${unit}`} | ${goal} | ${detail} |`,
  );
  return ['| what | measured | goal | detail |', '| --- | ---: | --- | --- |', ...lines].join('\n');
}

const round = (figure: number) => (figure >= 100 ? Math.round(figure) : Number(figure.toPrecision(3)));

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}
