/** Codex writes a report from a sketch until its context is compacted; then a fork of the thread tries another way. */

import { ledger } from '../projects/ledger.ts';
import { tideCurve } from '../projects/picture.ts';
import type { Scenario, Turn } from '../scenario.ts';
import { codexTools } from '../tools.ts';

const { run, patch, plan } = codexTools;
const tests = run('python3 -m unittest');

const addReport: Turn = {
  prompt:
    'I want a report per month: money in, money out, balance. The attached sketch shows roughly how the balance should be drawn later; start with the numbers.',
  images: ['sketch.png'],
  steps: [
    {
      think:
        '**Numbers first**\n\nThe sketch is a falling wave over a filled area: the balance over time. For now a table by month is asked for.',
      say: 'The sketch shows the balance as a filled curve. I start with the numbers behind it: one row per month.',
      calls: [run('cat ledger/__main__.py ledger/csvfile.py'), run('cat tests/test_csvfile.py statements/march.csv')],
    },
    {
      calls: [
        plan(
          'Numbers now, drawing later.',
          ['in_progress', 'Sum up bookings by month'],
          ['pending', 'A `report` command'],
          ['pending', 'Describe it in the README'],
        ),
        patch(
          '*** Add File: ledger/report.py',
          '+"""Sums of bookings by month."""',
          '+',
          '+from collections.abc import Iterable',
          '+from dataclasses import dataclass',
          '+from decimal import Decimal',
          '+',
          '+from ledger.csvfile import Booking',
          '+',
          '+',
          '+@dataclass',
          '+class Month:',
          '+    name: str',
          '+    money_in: Decimal = Decimal(0)',
          '+    money_out: Decimal = Decimal(0)',
          '+',
          '+    @property',
          '+    def balance(self) -> Decimal:',
          '+        return self.money_in - self.money_out',
          '+',
          '+',
          '+def by_month(bookings: Iterable[Booking]) -> list[Month]:',
          '+    months: dict[str, Month] = {}',
          '+    for booking in bookings:',
          '+        month = months.setdefault(booking.date[:7], Month(booking.date[:7]))',
          '+        if booking.amount > 0:',
          '+            month.money_in += booking.amount',
          '+        else:',
          '+            month.money_out += booking.amount',
          '+    return list(months.values())',
          '*** Add File: tests/test_report.py',
          '+import unittest',
          '+from decimal import Decimal',
          '+',
          '+from ledger.csvfile import Booking',
          '+from ledger.report import by_month',
          '+',
          '+',
          '+class ByMonth(unittest.TestCase):',
          '+    def test_in_out_and_balance(self):',
          '+        march, = by_month([Booking("2026-03-01", "Bakery", Decimal("-4.20")), Booking("2026-03-15", "Salary", Decimal("3150"))])',
          '+        self.assertEqual((march.money_in, march.money_out, march.balance), (Decimal("3150"), Decimal("4.20"), Decimal("3145.80")))',
          '+',
          '+    def test_months_in_order(self):',
          '+        months = by_month([Booking("2026-03-01", "B", Decimal(1)), Booking("2026-02-01", "A", Decimal(1))])',
          '+        self.assertEqual([month.name for month in months], ["2026-02", "2026-03"])',
        ),
      ],
    },
    { calls: [tests] },
    {
      think:
        '**Two mistakes**\n\nmoney_out is negative because I add negative amounts; and the months come in order of appearance.',
      say: 'Both tests are right. Money out must be counted as a positive number, and months must be sorted.',
      calls: [
        patch(
          '*** Update File: ledger/report.py',
          '@@',
          '-            month.money_out += booking.amount',
          '-    return list(months.values())',
          '+            month.money_out -= booking.amount',
          '+    return sorted(months.values(), key=lambda month: month.name)',
        ),
      ],
    },
    { calls: [tests] },
    {
      say: `\`ledger/report.py\` sums bookings by month, with tests. Next would be the command:

1. \`python3 -m ledger report FILE...\`
2. a table with month, in, out and balance
3. a line in the README`,
    },
  ],
};

const addCommand: Turn = {
  pause: 7,
  prompt: 'Go on with the command.',
  // Less than the thread's current size, so that Codex compacts before it continues.
  settings: ['model_auto_compact_token_limit=12500'],
  steps: [
    {
      wait: 2,
      say: `Progress: \`ledger/report.py\` has \`Month\` (name, money_in, money_out, balance) and \`by_month()\`, sorted by month; \`tests/test_report.py\` covers both and passes.

Decisions: money out is a positive number; drawing the balance as in the user's sketch comes later.

Next: \`python3 -m ledger report FILE...\` printing month, in, out, balance; then a line in README.md. \`ledger/__main__.py\` currently prints totals by payee and takes file names only; a statement with quoted commas (statements/march.csv) still breaks \`read_bookings\`, which splits at every comma.`,
    },
    { calls: [run("sed -n '1,40p' ledger/__main__.py")] },
    {
      calls: [
        patch(
          '*** Update File: ledger/__main__.py',
          '@@',
          '-"""Command line: python3 -m ledger FILE..."""',
          '+"""Command line: python3 -m ledger [report] FILE..."""',
          '@@',
          ' from ledger.csvfile import read_bookings',
          '+from ledger.report import by_month',
          ' ',
          ' ',
          '+def report(names: list[str]) -> int:',
          '+    bookings = [booking for name in names for booking in read_bookings(Path(name))]',
          "+    print(f\"{'month':<10}{'in':>12}{'out':>12}{'balance':>12}\")",
          '+    for month in by_month(bookings):',
          '+        print(f"{month.name:<10}{month.money_in:>12,.2f}{month.money_out:>12,.2f}{month.balance:>12,.2f}")',
          '+    return 0',
          '+',
          '+',
          ' def main(arguments: list[str]) -> int:',
          '+    if arguments[:1] == ["report"]:',
          '+        return report(arguments[1:])',
        ),
      ],
    },
    {
      calls: [
        run(
          "grep -v '\"' statements/march.csv > /tmp/plain.csv; python3 -m ledger report /tmp/plain.csv; python3 -m ledger report statements/march.csv 2>&1 | tail -1",
        ),
      ],
    },
    {
      say: `\`python3 -m ledger report\` works on plain statements:

\`\`\`
month               in         out     balance
2026-03       3,150.00       59.30    3,090.70
\`\`\`

On \`statements/march.csv\` it still stops, because the reader splits quoted payees at their commas. That is a bug of its own; I have not touched it.`,
    },
  ],
};

const asCsv: Turn = {
  pause: 6,
  prompt: 'Try a different direction: what if report wrote CSV instead of a table?',
  steps: [
    { calls: [run('git stash list; git diff --stat')] },
    {
      say: 'Then other programs could read it, and people would need one more step. I would keep the table and add `--csv`: the `csv` module writes the same four columns in three lines. I have changed nothing here.',
    },
  ],
};

export const monthlyReport: Scenario = {
  name: 'monthly-report',
  agent: 'codex',
  model: 'gpt-5.5',
  project: { ...ledger, files: { ...ledger.files, 'sketch.png': tideCurve() } },
  runs: [
    { how: 'start', turns: [addReport, addCommand] },
    { how: 'fork', turns: [asCsv] },
  ],
};
