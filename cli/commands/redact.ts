import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { defineCommand, flag, texts } from '../command.ts';
import { readSettings, stateFolder } from '../config.ts';
import { type Context, credentialsOf } from '../context.ts';
import { codeOf, EXIT, Failure } from '../failure.ts';
import { formatCount, type Output } from '../output.ts';
import { preferencesPath, readPreferences } from '../preferences.ts';
import { readKey } from '../redact/key.ts';
import { KNOWN_VALUE } from '../redact/known/finder.ts';
import { createRedactor } from '../redact/redactor.ts';
import { type Finding, findSecrets } from '../redact/trial/findings.ts';
import { listRules } from '../redact/trial/list.ts';

export interface RedactOptions {
  test: string[];
  listRules: boolean;
  show: boolean;
  fail: boolean;
}

interface FileReport {
  file: string;
  findings: Finding[];
}

export const redactCommand = defineCommand({
  name: 'redact',
  summary: 'show what would be masked in a file',
  description: 'Shows which secrets would be masked in a transcript or any other text. Sends and stores nothing.',
  examples: [
    ['capture redact --test session.jsonl', 'what would be masked in a file'],
    ['git diff | capture redact --test - --fail', 'in a script, before something is shared'],
  ],
  options: {
    test: texts('--test <file...>', 'the files; - for what is piped in'),
    listRules: flag('--list-rules', 'list the rules instead'),
    show: flag('--show', 'show the secrets themselves on the screen'),
    fail: flag('--fail', 'exit with 1 when something would be masked'),
  },
  run: runRedact,
});

export async function runRedact(context: Context, options: RedactOptions, output: Output): Promise<void> {
  if (options.listRules) return showRules(output);
  if (options.test.length === 0) {
    throw new Failure(
      EXIT.usage,
      'There is nothing to test.',
      'Name files: `capture redact --test FILE`, - for stdin.',
    );
  }
  const redactor = openRedactor(context);
  const files: FileReport[] = [];
  for (const file of options.test) {
    files.push({ file, findings: findSecrets(redactor, await readText(context, file)) });
  }
  const findings = files.flatMap((report) => report.findings);
  const totals = countByRule(findings);
  output.answer({ rules: redactor.rules, secrets: findings.length, totals, files: files.map(toJson(options)) }, [
    ...files.flatMap((report) => report.findings.flatMap((finding) => describeFinding(report.file, finding, options))),
    describeTotals(findings.length, files.length, totals, redactor.rules),
    ...describeAllowing(context, findings),
  ]);
  if (options.fail && findings.length > 0) {
    throw new Failure(EXIT.failure, `${formatCount(findings.length, 'secret')} would be masked.`);
  }
}

/** As for capturing, but without a limit of time: here nobody waits but the person who asked. */
function openRedactor(context: Context) {
  const { variables, home, now, folder } = context;
  const { secret } = readSettings(context);
  const { allow = [] } = readPreferences(context).redaction ?? {};
  return createRedactor({
    variables,
    home,
    credentials: credentialsOf(context),
    cwds: [folder],
    secrets: secret === undefined ? [] : [secret],
    key: readKey(stateFolder(context)),
    allow,
    now,
    patienceMs: Number.POSITIVE_INFINITY,
  });
}

async function readText(context: Context, file: string): Promise<string> {
  if (file === '-') return readAll(context.stdin);
  try {
    return readFileSync(resolve(context.folder, file), 'utf8');
  } catch (error) {
    throw new Failure(EXIT.usage, `${file} cannot be read (${codeOf(error) ?? error}).`, 'Check the path.', error);
  }
}

function countByRule(findings: readonly Finding[]): { [rule: string]: number } {
  const groups = Map.groupBy(findings, ({ rule }) => rule);
  const counts = Array.from(groups, ([rule, found]): [string, number] => [rule, found.length]);
  return Object.fromEntries(counts.sort(([, one], [, other]) => other - one));
}

const toJson =
  ({ show }: RedactOptions) =>
  ({ file, findings }: FileReport) => ({
    file,
    findings: findings.map(({ secret, ...finding }) => (show ? { ...finding, secret } : finding)),
  });

function describeFinding(file: string, finding: Finding, { show }: RedactOptions): string[] {
  const { line, column, rule, path, context, secret } = finding;
  return [
    `${file}:${line}:${column}  ${rule}${path ? `  ${path}` : ''}`,
    `    ${context}`,
    ...(show ? [`    ${JSON.stringify(secret)}`] : []),
  ];
}

function describeTotals(count: number, files: number, totals: { [rule: string]: number }, rules: string): string {
  const where = `in ${formatCount(files, 'file')} (rules ${rules})`;
  if (count === 0) return `Nothing would be masked ${where}.`;
  const parts = Object.entries(totals).map(([rule, number]) => `${rule} ${number}`);
  return `${formatCount(count, 'secret')} would be masked ${where}: ${parts.join(', ')}.`;
}

function describeAllowing(context: Context, findings: readonly Finding[]): string[] {
  const example = findings.find(({ mark }) => mark !== '');
  if (example === undefined) return [];
  const all =
    example.rule === KNOWN_VALUE ? '' : ` "${example.rule}" in its place lets through all that the rule finds.`;
  return [
    `A false alarm? Let it through by its mark, in ${preferencesPath(context)}:`,
    `    { "redaction": { "allow": ["${example.mark}"] } }`,
    ...(all ? [all.trim()] : []),
  ];
}

function showRules(output: Output): void {
  const rules = listRules();
  const width = Math.max(...rules.map(({ id }) => id.length));
  const groupWidth = Math.max(...rules.map(({ of }) => of.length));
  output.answer(
    { rules },
    rules.map(({ id, of, shape }) => `${id.padEnd(width)}  ${of.padEnd(groupWidth)}  ${shape}`),
  );
}
