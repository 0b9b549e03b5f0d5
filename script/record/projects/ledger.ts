/** A Python command-line tool that splits CSV lines at every comma, quoted or not. */
import type { Project } from '../scenario.ts';

const csvfile = `"""Reads bank statements in CSV form."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path


@dataclass(frozen=True)
class Booking:
    date: str
    payee: str
    amount: Decimal


def read_bookings(path: Path) -> list[Booking]:
    lines = path.read_text(encoding="utf-8").splitlines()
    header = lines[0].split(",")
    bookings = []
    for line in lines[1:]:
        row = dict(zip(header, line.split(",")))
        bookings.append(Booking(row["date"], row["payee"], Decimal(row["amount"])))
    return bookings
`;

const cli = `"""Command line: python3 -m ledger FILE..."""

import sys
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

from ledger.csvfile import read_bookings


def main(arguments: list[str]) -> int:
    totals: defaultdict[str, Decimal] = defaultdict(Decimal)
    for name in arguments:
        for booking in read_bookings(Path(name)):
            totals[booking.payee] += booking.amount
    for payee, total in sorted(totals.items(), key=lambda item: item[1]):
        print(f"{payee:<32}{total:>12,.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
`;

const test = `import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from ledger.csvfile import Booking, read_bookings


class ReadBookings(unittest.TestCase):
    def read(self, text: str) -> list[Booking]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "statement.csv"
            path.write_text(text, encoding="utf-8")
            return read_bookings(path)

    def test_plain_rows(self):
        bookings = self.read("date,payee,amount\\n2026-03-01,Bakery,-4.20\\n")
        self.assertEqual(bookings, [Booking("2026-03-01", "Bakery", Decimal("-4.20"))])


if __name__ == "__main__":
    unittest.main()
`;

const march = `date,payee,amount
2026-03-01,Bakery Lindgren,-4.20
2026-03-02,"Harbour Print, Inc.",-184.00
2026-03-03,City Transport,-49.00
2026-03-09,"Okafor & Sons, Solicitors",-620.50
2026-03-15,Salary,3150.00
2026-03-28,Bakery Lindgren,-6.10
`;

/** Invented from end to end; here so that a reader of the demo sees what redaction does to such a file. */
const environment = `# local settings, not in version control
DATABASE_URL=postgres://app:hunter2-correct-horse@db.internal/prod
GITHUB_TOKEN=ghp_notARealTokenJustASample0123456789ab
LEDGER_CURRENCY=EUR
`;

export const ledger: Project = {
  name: 'ledger',
  files: {
    'ledger/__init__.py': '',
    'ledger/__main__.py': cli,
    'ledger/csvfile.py': csvfile,
    'tests/__init__.py': '',
    'tests/test_csvfile.py': test,
    'statements/march.csv': march,
    'README.md': '# ledger\n\nAdds up bank statements by payee:\n\n    python3 -m ledger statements/march.csv\n',
    '.gitignore': '__pycache__/\n.env\n',
    '.env': environment,
  },
};
