/** Claude Code writes a page of documentation from a picture and the code, and a fork of the session tries a variant. */
import { tidewatch } from '../projects/tidewatch.ts';
import type { Scenario, Turn } from '../scenario.ts';
import { claudeTools } from '../tools.ts';

const { bash, read, write, edit, glob } = claudeTools('/home/dev/code/tidewatch');

const usage = `# Usage

    tidewatch [--station NAME] [--days N] [--from DATE] [--feet]

| option | short | default | meaning |
| --- | --- | --- | --- |
| \`--station\` | \`-s\` | \`Vlissingen\` | where; also \`Oostende\`, \`Harlingen\` |
| \`--days\` | \`-d\` | \`1\` | how many days to list |
| \`--from\` | | \`2026-03-01\` | first day, as \`YYYY-MM-DD\` |
| \`--feet\` | | off | heights in feet instead of metres |

![Tide curve of two and a half days](curve.png)

The heights rise and fall over about two weeks: spring tides, then neap tides.
`;

const writeThePage: Turn = {
  prompt:
    'The README links to a usage page that does not exist. Write it; this picture belongs on it (docs/curve.png).',
  images: ['docs/curve.png'],
  steps: [
    {
      think:
        'The picture shows a sine-like curve, the tide over about two days, slowly losing amplitude. Look at the options in the code so that the page is exact.',
      say: 'A tide curve with falling amplitude: from spring tide towards neap tide. I take the options from the code rather than from memory.',
      calls: [read('README.md'), read('src/cli.ts'), glob('docs/*')],
    },
    {
      calls: [
        bash(
          'node src/cli.ts --days 2 && node src/cli.ts -s Harlingen --feet; node src/cli.ts -s Atlantis',
          'Try the options',
        ),
      ],
    },
    { calls: [write('docs/usage.md', usage), edit('README.md', 'docs/options.md', 'docs/usage.md')] },
    {
      calls: [
        bash(
          `grep -ho '](\\([^)]*\\))' README.md docs/*.md | tr -d '])(' | while read -r f; do test -e "$f" -o -e "docs/$f" && echo "ok      $f" || echo "missing $f"; done`,
          'Check that links lead somewhere',
        ),
      ],
    },
    {
      say: `The page is \`docs/usage.md\`: one line of synopsis, a table of the four options, and your picture with a sentence on what it shows.

Two things on the way:

- The README linked to \`docs/options.md\`; it now links to \`docs/usage.md\`.
- \`--station Atlantis\` ends with a stack trace rather than a message. I did not touch that.`,
    },
  ],
};

const release: Turn = {
  pause: 10,
  prompt: 'Nice. Make the stack trace a plain message as well, and prepare 1.2.1.',
  steps: [
    {
      calls: [
        edit(
          'src/cli.ts',
          'const tides = highTides(values.station, new Date(values.from), Number(values.days));\n',
          `function listTides() {
  try {
    return highTides(values.station, new Date(values.from), Number(values.days));
  } catch (error) {
    console.error(\`tidewatch: \${(error as Error).message}\`);
    process.exit(2);
  }
}

const tides = listTides();
`,
        ),
        bash(
          'node src/cli.ts -s Atlantis; echo "exit code $?"; FORCE_COLOR=1 node --run test',
          'Try it and run the tests',
        ),
      ],
    },
    { calls: [read('CHANGELOG.md'), read('package.json')] },
    {
      calls: [
        edit(
          'CHANGELOG.md',
          '# Changelog\n',
          '# Changelog\n\n## 1.2.1 – 2026-03-02\n\n- An unknown station is reported in one line, with exit code 2.\n- A usage page.\n',
        ),
        edit('package.json', '"1.2.0"', '"1.2.1"'),
      ],
    },
    {
      calls: [
        bash(
          "git add . && git commit -q -m 'Release 1.2.1' && git tag v1.2.1 && git show --stat --format='%h %s%d'",
          'Commit and tag the release',
        ),
      ],
    },
    {
      say: '`1.2.1` is committed and tagged, not pushed. An unknown station now says\n\n```\ntidewatch: unknown station Atlantis; one of Vlissingen, Oostende, Harlingen\n```\n\nand exits with code 2.',
    },
  ],
};

const inDutch: Turn = {
  prompt: 'Just to see: how would the usage page read in Dutch?',
  steps: [
    { calls: [read('docs/usage.md')] },
    {
      say: `Only the prose needs translating; options and station names stay:

> # Gebruik
>
> | optie | kort | standaard | betekenis |
> | --- | --- | --- | --- |
> | \`--station\` | \`-s\` | \`Vlissingen\` | waar; ook \`Oostende\`, \`Harlingen\` |
> | \`--days\` | \`-d\` | \`1\` | aantal dagen |
> | \`--from\` | | \`2026-03-01\` | eerste dag, als \`JJJJ-MM-DD\` |
> | \`--feet\` | | uit | hoogten in voet in plaats van meter |
>
> De hoogten nemen in ongeveer twee weken toe en weer af: eerst springtij, dan doodtij.

I have not written a file.`,
    },
  ],
};

export const usagePage: Scenario = {
  name: 'usage-page',
  agent: 'claude-code',
  model: 'claude-haiku-4-5',
  project: tidewatch,
  runs: [
    { how: 'start', turns: [writeThePage, release] },
    { how: 'fork', turns: [{ ...inDutch, pause: 6 }] },
  ],
};
