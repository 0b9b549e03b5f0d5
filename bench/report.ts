/** One line of the table. */
export interface Row {
  what: string;
  figure: number;
  unit: string;
  goal: string;
  detail: string;
}

export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ what, figure, unit, goal, detail }) => `| ${what} | ${round(figure)} ${unit} | ${goal} | ${detail} |`,
  );
  return ['| what | measured | goal | detail |', '| --- | ---: | --- | --- |', ...lines].join('\n');
}

const round = (figure: number) => (figure >= 100 ? Math.round(figure) : Number(figure.toPrecision(3)));
