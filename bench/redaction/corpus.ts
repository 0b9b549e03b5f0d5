import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeExample } from '../../redact/test/made.ts';
import { createMaskers, MASKERS, maskSession, OURS, survives } from './maskers.ts';

/** Prints recall and harm over the sessions in `corpus/` as a table by class; see its README. */
const { values } = parseArgs({ options: { ...MASKERS, show: { type: 'boolean', default: false } } });

interface Turn {
  kind: string;
  text: string;
}

/** A record in an agent's format, and the places of its secrets. */
interface Written {
  json: string;
  secrets: { kind: string; secret: string; start: number; end: number }[];
}

const FOLDER = join(import.meta.dirname, 'corpus');
const PLACEHOLDER = /‹(-|[a-z]+) ([a-z\d]+(?: \d+){0,2})›/g;

const MARK = /\[REDACTED:[a-z0-9-]{2,40}:[0-9a-f]{4}\]|\[masked\]/;

const sessions = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.txt'))
  .flatMap((name) => {
    const turns = readTurns(readFileSync(join(FOLDER, name), 'utf8'));
    return [writeClaudeCode, writeCodex].map((write) => turns.flatMap(write).map(fillIn));
  });

const kinds = [...new Set(sessions.flat().flatMap(({ secrets }) => secrets.map(({ kind }) => kind)))].sort();
const table: { [kind: string]: { [column: string]: number | string } } = {};
for (const [name, mask] of Object.entries(await createMaskers(values))) {
  const found: { [kind: string]: [survived: number, all: number] } = {};
  let [harmed, harmless] = [0, 0];
  for (const records of sessions) {
    const texts = records.map(({ json }) => json);
    const masked = name === OURS ? maskSession(texts) : await mask(texts);
    for (const { kind, secret } of distinctSecrets(records)) {
      const count = found[kind] ?? [0, 0];
      found[kind] = count;
      const isLeft = masked.some((text) => survives(secret, text));
      if (isLeft) count[0]++;
      count[1]++;
      if (isLeft && values.show && name === OURS) console.log(`survived: ${kind} ${secret}`);
    }
    for (const [index, record] of records.entries()) {
      const harm = measureHarm(record, masked[index] ?? '', name === OURS && values.show);
      harmed += harm.masked;
      harmless += harm.all;
    }
  }
  for (const kind of [...kinds, 'all']) {
    const counts = kind === 'all' ? Object.values(found) : [found[kind] ?? [0, 0]];
    const [left, all] = [0, 1].map((at) => counts.reduce((sum, count) => sum + (count[at] ?? 0), 0)) as [
      number,
      number,
    ];
    table[kind] = { ...table[kind], secrets: all, [name]: `${((100 * (all - left)) / all).toFixed(1)} %` };
  }
  table.harm = { ...table.harm, [name]: `${((100 * harmed) / harmless).toFixed(3)} %` };
}
console.table(table);

function readTurns(text: string): Turn[] {
  return text.split(/^@(?=(?:user|run|out|say)$)/m).flatMap((part): Turn[] => {
    const [kind = '', ...lines] = part.trimEnd().split('\n');
    return kind === '' ? [] : [{ kind, text: lines.join('\n').replaceAll('␛', '\u001b') }];
  });
}

function writeClaudeCode({ kind, text }: Turn): string[] {
  const content = {
    user: text,
    run: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: text } }],
    out: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: text, is_error: false }],
    say: [{ type: 'text', text }],
  }[kind];
  const isPerson = kind === 'user' || kind === 'out';
  const record = { type: isPerson ? 'user' : 'assistant', message: { role: isPerson ? 'user' : 'assistant', content } };
  return [JSON.stringify(kind === 'out' ? { ...record, toolUseResult: { stdout: text, stderr: '' } } : record)];
}

function writeCodex({ kind, text }: Turn): string[] {
  const payload = {
    user: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    run: { type: 'function_call', name: 'shell', arguments: JSON.stringify({ command: ['bash', '-lc', text] }) },
    out: { type: 'function_call_output', output: JSON.stringify({ output: text, metadata: { exit_code: 0 } }) },
    say: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
  }[kind];
  return [JSON.stringify({ timestamp: '2026-11-01T10:00:00.000Z', type: 'response_item', payload })];
}

/** Replaces the placeholders by generated secrets of letters that JSON does not escape at any depth. */
function fillIn(template: string): Written {
  const secrets: Written['secrets'] = [];
  let json = '';
  let from = 0;
  for (const { 0: placeholder, 1: kind = '', 2: recipe = '', index } of template.matchAll(PLACEHOLDER)) {
    json += template.slice(from, index);
    const secret = makeExample(`<${recipe.replace(/^uuid (\d+)$/, 'uuid $1')}>`);
    if (kind !== '-') secrets.push({ kind, secret, start: json.length, end: json.length + secret.length });
    json += secret;
    from = index + placeholder.length;
  }
  return { json: json + template.slice(from), secrets };
}

function distinctSecrets(records: readonly Written[]) {
  const secrets = records.flatMap((record) => record.secrets);
  return [...new Map(secrets.map((each) => [each.secret, each])).values()];
}

/** Counts the letters outside secrets that the masked text lacks. The prefix of a token belongs to the token. */
function measureHarm({ json, secrets }: Written, masked: string, show: boolean): { masked: number; all: number } {
  const isSecret = new Uint8Array(json.length);
  for (const { start, end } of secrets) {
    const prefix = /[A-Za-z0-9_.-]{0,20}$/.exec(json.slice(Math.max(0, start - 20), start))?.[0].length ?? 0;
    isSecret.fill(1, start - prefix, end + 2);
  }
  let [at, harmed] = [0, 0];
  const pieces = masked.split(MARK);
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1;
    const found = isLast ? json.length - piece.length : json.indexOf(piece, at);
    const next = Math.max(found, at);
    const lost = isSecret.subarray(at, next).filter((secret) => secret === 0).length;
    // Masking also removes line breaks within a key and colour codes within a token; they count as harm.
    if (lost > 0 && show) console.log(`masked without need: ${lost} of ${json.slice(at, next).slice(0, 120)}`);
    harmed += lost;
    at = next + piece.length;
  }
  return { masked: harmed, all: isSecret.filter((secret) => secret === 0).length };
}
