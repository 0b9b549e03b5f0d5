import { expect, test } from 'vitest';
import { createOutput } from '../output.ts';
import { makeFolder } from '../test/folder.ts';
import { createContext } from '../test/program.ts';
import { createFindings, reportFindings } from './report.ts';

function report(events: number, json: boolean) {
  const findings = createFindings();
  findings.count('sessions');
  for (let position = 0; position < events; position++) {
    const where = { agent: 'codex', session: 's', file: '/s.jsonl', position };
    findings.add({ problem: 'missing', ...where, eventType: 'user.message' });
  }
  const { context, written } = createContext({ home: makeFolder() });
  reportFindings(findings, createOutput(context, { json, quiet: false }));
  return written.stdout;
}

test('a person reads the first 20 differences, the number of the others, and advice that names no file', () => {
  const lines = report(3_000, false).trimEnd().split('\n');
  expect(lines.filter((line) => line.startsWith('missing'))).toHaveLength(20);
  expect(lines.slice(20)).toEqual([
    '… and 2,980 more events: `--json` lists more of them',
    '0 records of 1 session: 3,000 events missing at the service',
    expect.stringMatching(/^Keep the transcripts, and ask an administrator (?!.*docs)/),
  ]);
  expect(report(20, false)).not.toContain('…');
});

test('a program gets the first 1,000 differences and the number of the others', () => {
  const { findings, findingsNotListed } = JSON.parse(report(3_000, true));
  expect([findings.length, findingsNotListed]).toEqual([1_000, 2_000]);
});
