type Counts = Record<string, number>;

/** Counts by name, printed as a table if `CAPTURE_TEST_TABLE` is set. */
export function createTally() {
  const rows = new Map<string, Counts>();
  return {
    add(name: string, counts: Counts): void {
      const row = rows.get(name) ?? {};
      for (const [column, by] of Object.entries(counts)) row[column] = (row[column] ?? 0) + by;
      rows.set(name, row);
    },
    print(title: string): void {
      if (process.env.CAPTURE_TEST_TABLE === undefined) return;
      const lines = [...rows].map(([name, counts]) => `${title} | ${name} | ${JSON.stringify(counts)}\n`);
      process.stderr.write(lines.join(''));
    },
  };
}
