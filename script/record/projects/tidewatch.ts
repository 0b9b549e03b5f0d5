/** A command-line tide table that lacks documentation and a second output format. */
import type { Project } from '../scenario.ts';
import { tideCurve } from './picture.ts';

const tide = `export type Tide = { time: Date; height: number };

/** Mean time between two high tides: half a lunar day. */
const PERIOD = 12.42 * 60 * 60 * 1000;

const STATIONS: Record<string, { phase: number; mean: number }> = {
  Vlissingen: { phase: 0.1, mean: 2.05 },
  Oostende: { phase: 0.06, mean: 2.2 },
  Harlingen: { phase: 0.62, mean: 0.95 },
};

/** High tides of the given days; a rough sketch, not for navigation. */
export function highTides(station: string, from: Date, days: number): Tide[] {
  const place = STATIONS[station];
  if (!place) throw new Error(\`unknown station \${station}; one of \${Object.keys(STATIONS).join(', ')}\`);
  const tides: Tide[] = [];
  const end = from.getTime() + days * 24 * 60 * 60 * 1000;
  const first = (Math.ceil(from.getTime() / PERIOD - place.phase) + place.phase) * PERIOD;
  for (let time = first; time < end; time += PERIOD) {
    const springNeap = Math.cos((time / (14.77 * 24 * 60 * 60 * 1000)) * 2 * Math.PI);
    tides.push({ time: new Date(time), height: place.mean + 0.35 * springNeap });
  }
  return tides;
}
`;

const cli = `import { parseArgs } from 'node:util';
import { highTides } from './tide.ts';

const { values } = parseArgs({
  options: {
    station: { type: 'string', short: 's', default: 'Vlissingen' },
    days: { type: 'string', short: 'd', default: '1' },
    from: { type: 'string', default: '2026-03-01' },
    feet: { type: 'boolean', default: false },
  },
});

const tides = highTides(values.station, new Date(values.from), Number(values.days));
for (const { time, height } of tides) {
  const shown = values.feet ? \`\${(height * 3.28084).toFixed(1)} ft\` : \`\${height.toFixed(2)} m\`;
  console.log(\`\${time.toISOString().slice(0, 16).replace('T', ' ')}  \${shown}\`);
}
`;

const test = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { highTides } from '../src/tide.ts';

test('two high tides on most days', () => {
  assert.equal(highTides('Oostende', new Date('2026-03-01'), 7).length, 14);
});

test('names the stations it knows', () => {
  assert.throws(() => highTides('Atlantis', new Date(), 1), /unknown station Atlantis; one of Vlissingen/);
});
`;

const changelog = `# Changelog

## 1.2.0 – 2026-02-03

- New station: Harlingen.

## 1.1.0 – 2025-11-20

- \`--feet\`.
`;

export const tidewatch: Project = {
  name: 'tidewatch',
  files: {
    'package.json':
      '{\n  "name": "tidewatch",\n  "version": "1.2.0",\n  "type": "module",\n  "bin": "src/cli.ts",\n  "scripts": { "test": "node --test" }\n}\n',
    'src/tide.ts': tide,
    'src/cli.ts': cli,
    'test/tide.test.ts': test,
    'docs/curve.png': tideCurve(),
    'README.md': '# tidewatch\n\nHigh tides on the command line. Options: see [usage](docs/options.md).\n',
    'CHANGELOG.md': changelog,
  },
};
