/** Codex fixes a CSV reader: a plan, failing and passing tests, patches, and a look into a file with secrets. */
import { ledger } from '../projects/ledger.ts';
import type { Scenario, Turn } from '../scenario.ts';
import { codexTools } from '../tools.ts';

const { run, patch, plan } = codexTools;
const tests = run('python3 -m unittest -v');

const mendTheReader: Turn = {
  prompt:
    '`python3 -m ledger statements/march.csv` dies with a traceback since the bank changed its export. Please fix it, with a test.',
  steps: [
    {
      think:
        '**Reproducing the crash**\n\nI want to see the traceback before reading any code, and then the statement itself.',
      say: "I'll reproduce the crash and look at the statement next to the reader.",
      calls: [
        run('python3 -m ledger statements/march.csv'),
        run('ls -R ledger tests statements && head -4 statements/march.csv'),
        run("sed -n '1,80p' ledger/csvfile.py"),
      ],
    },
    {
      think:
        '**Quoted commas**\n\nThe payee `"Harbour Print, Inc."` contains a comma. `line.split(",")` cuts it in two, so the amount column receives ` Inc."` and Decimal refuses it. The standard `csv` module handles quoting; `csv.DictReader` also gives rows by header. Exports from spreadsheets often start with a byte order mark, which `utf-8-sig` swallows.',
      say: 'The reader splits at every comma, also inside quotes: `"Harbour Print, Inc."` becomes two columns, and ` Inc."` is then read as the amount.',
      calls: [
        plan(
          'The cause is known; tests come first.',
          ['in_progress', 'Add failing tests for quoted commas and a byte order mark'],
          ['pending', 'Read statements with the csv module'],
          ['pending', 'Check against the real statement'],
        ),
      ],
      wait: 1,
    },
    {
      calls: [
        patch(
          '*** Update File: tests/test_csvfile.py',
          '@@',
          '         self.assertEqual(bookings, [Booking("2026-03-01", "Bakery", Decimal("-4.20"))])',
          ' ',
          '+    def test_a_comma_inside_quotes(self):',
          '+        bookings = self.read(\'date,payee,amount\\n2026-03-02,"Harbour Print, Inc.",-184.00\\n\')',
          '+        self.assertEqual(bookings, [Booking("2026-03-02", "Harbour Print, Inc.", Decimal("-184.00"))])',
          '+',
          '+    def test_a_byte_order_mark(self):',
          '+        bookings = self.read("\\ufeffdate,payee,amount\\n2026-03-01,Bakery,-4.20\\n")',
          '+        self.assertEqual(bookings[0].date, "2026-03-01")',
          '+',
          ' ',
          ' if __name__ == "__main__":',
        ),
      ],
    },
    { calls: [tests] },
    {
      say: 'Both new tests fail as expected. Now the reader.',
      calls: [
        patch(
          '*** Update File: ledger/csvfile.py',
          '@@',
          ' """Reads bank statements in CSV form."""',
          ' ',
          '+import csv',
          ' from dataclasses import dataclass',
          '@@',
          ' def read_bookings(path: Path) -> list[Booking]:',
          '-    lines = path.read_text(encoding="utf-8").splitlines()',
          '-    header = lines[0].split(",")',
          '-    bookings = []',
          '-    for line in lines[1:]:',
          '-        row = dict(zip(header, line.split(",")))',
          '-        bookings.append(Booking(row["date"], row["payee"], Decimal(row["amount"])))',
          '-    return bookings',
          '+    # Spreadsheets put a byte order mark in front; utf-8-sig reads files with and without one.',
          '+    with path.open(encoding="utf-8-sig", newline="") as file:',
          '+        return [Booking(row["date"], row["payee"], Decimal(row["amount"])) for row in csv.DictReader(file)]',
        ),
      ],
    },
    { calls: [tests, run('python3 -m ledger statements/march.csv')] },
    {
      calls: [
        plan(
          'All tests pass and the statement adds up.',
          ['completed', 'Add failing tests for quoted commas and a byte order mark'],
          ['completed', 'Read statements with the csv module'],
          ['completed', 'Check against the real statement'],
        ),
      ],
    },
    {
      say: `Statements with quoted payees read correctly again.

- \`ledger/csvfile.py\` uses the standard \`csv\` module instead of splitting at commas; \`utf-8-sig\` copes with a byte order mark.
- \`tests/test_csvfile.py\` has a test for each.

The March statement now gives:

\`\`\`
Okafor & Sons, Solicitors           -620.50
Harbour Print, Inc.                 -184.00
…
Salary                             3,150.00
\`\`\``,
    },
  ],
};

const currency: Turn = {
  pause: 8,
  prompt:
    'Thanks. There is a LEDGER_CURRENCY setting somewhere that the output ignores. Can you print it behind the amounts?',
  steps: [
    {
      say: "I'll look for where the setting lives.",
      calls: [run('grep -rn --exclude-dir=.git LEDGER_CURRENCY .'), run('cat .env')],
    },
    {
      think:
        '**Secrets in view**\n\nThe file holds a database password and a token besides the currency. I only need the variable name; nothing from this file belongs into code or output.',
      say: 'It is only in `.env`, next to credentials that I leave alone. The tool should read the environment variable; loading the file is up to the shell.',
      calls: [
        patch(
          '*** Update File: ledger/__main__.py',
          '@@',
          '-import sys',
          '+import os',
          '+import sys',
          ' from collections import defaultdict',
          '@@',
          '     totals: defaultdict[str, Decimal] = defaultdict(Decimal)',
          '+    currency = os.environ.get("LEDGER_CURRENCY", "")',
          '     for name in arguments:',
          '@@',
          '-        print(f"{payee:<32}{total:>12,.2f}")',
          '+        print(f"{payee:<32}{total:>12,.2f} {currency}".rstrip())',
        ),
      ],
    },
    {
      calls: [
        run('set -a; . ./.env; set +a; python3 -m ledger statements/march.csv; python3 -m unittest 2>&1 | tail -3'),
      ],
    },
    {
      say: `Amounts now carry the currency when \`LEDGER_CURRENCY\` is set; without it the output is as before.

\`.env\` also holds a database password and a GitHub token. It is ignored by git, so nothing was committed, but a password manager would be a better home for them.`,
    },
  ],
};

const commit: Turn = {
  pause: 6,
  prompt: 'Commit both, separately.',
  steps: [
    {
      calls: [
        run(
          "git add ledger/csvfile.py tests && git commit -q -m 'Read quoted payees' && git add ledger/__main__.py && git commit -q -m 'Show the currency' && git log --oneline --stat -2",
        ),
      ],
    },
    { say: 'Done: **Read quoted payees** and **Show the currency**.' },
  ],
};

export const csvCommas: Scenario = {
  name: 'csv-commas',
  agent: 'codex',
  model: 'gpt-5.5',
  project: ledger,
  runs: [{ how: 'start', turns: [mendTheReader, currency, commit] }],
};
