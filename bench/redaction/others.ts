import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Removes the secrets that a tool finds from each text. */
export type Masker = (texts: readonly string[]) => Promise<string[]>;

interface GitleaksRule {
  regex?: string;
  keywords?: string[];
  entropy?: number;
  secretGroup?: number;
  allowlists?: { regexes?: string[]; stopwords?: string[] }[];
}

/** Gitleaks' published rules, with their keywords, entropy and allowlists. Python reads the TOML. */
export function createGitleaks(path: string): Masker {
  const script = 'import json, sys, tomllib; print(json.dumps(tomllib.load(open(sys.argv[1], "rb"))))';
  const config = JSON.parse(execFileSync('python3', ['-c', script, path], { encoding: 'utf8', maxBuffer: 1e8 }));
  const rules = (config.rules as GitleaksRule[]).flatMap((rule) => prepareGitleaks(rule));
  return async (texts) => texts.map((text) => rules.reduce((masked, mask) => mask(masked, text.toLowerCase()), text));
}

function prepareGitleaks(rule: GitleaksRule): ((text: string, lower: string) => string)[] {
  const pattern = toPattern(rule.regex ?? '(?!)');
  if (pattern === undefined) return [];
  const allowed = (rule.allowlists ?? []).flatMap(({ regexes = [] }) =>
    regexes.flatMap((regex) => toPattern(regex) ?? []),
  );
  const stopwords = (rule.allowlists ?? []).flatMap((list) => list.stopwords ?? []);
  return [
    (text, lower) => {
      if (rule.keywords?.length && !rule.keywords.some((keyword) => lower.includes(keyword.toLowerCase()))) return text;
      return text.replace(pattern, (match, ...groups: unknown[]) => {
        const captured = groups.slice(
          0,
          groups.findIndex((group) => typeof group === 'number'),
        ) as (string | undefined)[];
        const secret = (rule.secretGroup ? captured[rule.secretGroup - 1] : captured.find(Boolean)) ?? match;
        if (measureEntropy(secret) < (rule.entropy ?? 0)) return match;
        if (stopwords.some((word) => secret.toLowerCase().includes(word))) return match;
        if (allowed.some((regex) => secret.search(regex) >= 0)) return match;
        return match.replace(secret, () => '[masked]');
      });
    },
  ];
}

/** Converts a pattern of Go to JavaScript; undefined if that is impossible. */
function toPattern(source: string): RegExp | undefined {
  const ignoresCase = /\(\?i\)/.test(source);
  const pattern = source
    .replaceAll('(?i)', '')
    .replaceAll('\\z', '$')
    .replace(/\(\?P</g, '(?<')
    .replaceAll('[[:alnum:]]', '[0-9A-Za-z]')
    .replaceAll('[:alnum:]', '0-9A-Za-z');
  try {
    return new RegExp(pattern, ignoresCase ? 'gi' : 'g');
  } catch {
    return undefined;
  }
}

function measureEntropy(text: string): number {
  const letters = [...text];
  return [...new Set(letters)].reduce((bits, letter) => {
    const share = letters.filter((other) => other === letter).length / letters.length;
    return bits - share * Math.log2(share);
  }, 0);
}

/** Detect-secrets from its source, with its default plugins. One Python process scans each text as a file. */
export function createDetectSecrets(source: string): Masker {
  const script = `
import json, os, sys, tempfile
sys.path.insert(0, sys.argv[1])
from detect_secrets.core.scan import scan_file
from detect_secrets.settings import default_settings
out = []
with tempfile.TemporaryDirectory() as folder, default_settings():
    for text in json.load(sys.stdin):
        path = os.path.join(folder, 'config.txt')
        open(path, 'w', encoding='utf8', errors='replace').write(text)
        out.append([found.secret_value for found in scan_file(path)])
print(json.dumps(out))
`;
  return async (texts) => {
    const answer = execFileSync('python3', ['-c', script, source], {
      input: JSON.stringify(texts),
      encoding: 'utf8',
      maxBuffer: 1e9,
    });
    return takeOut(texts, JSON.parse(answer));
  };
}

const takeOut = (texts: readonly string[], found: string[][]) =>
  texts.map((text, index) => (found[index] ?? []).reduce((rest, secret) => rest.replaceAll(secret, '[masked]'), text));

/** Secretlint from npm, with its recommended rules; `modules` is the folder of its installation. */
export async function createSecretlint(modules: string): Promise<Masker> {
  const require = createRequire(join(modules, 'package.json'));
  const [core, preset] = await Promise.all(
    ['@secretlint/core', '@secretlint/secretlint-rule-preset-recommend'].map(
      (name) => import(findEntry(require, name)),
    ),
  );
  const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: preset.creator }] };
  return (texts) =>
    Promise.all(
      texts.map(async (content) => {
        const source = { filePath: 'config.txt', content, contentType: 'text' };
        const { messages } = await core.lintSource({ source, options: { config } });
        const ranges = (messages as { range: [number, number] }[]).map(({ range }) => range).sort(([a], [b]) => b - a);
        return ranges.reduce((text, [start, end]) => `${text.slice(0, start)}[masked]${text.slice(end)}`, content);
      }),
    );
}

function findEntry(require: NodeJS.Require, name: string): string {
  const folder = (require.resolve.paths(name) ?? []).find((path) => exists(join(path, name)));
  const manifest = JSON.parse(readFileSync(join(folder ?? '', name, 'package.json'), 'utf8'));
  const entry = manifest.exports?.['.'] ?? manifest.exports ?? manifest.main;
  const file = typeof entry === 'string' ? entry : (entry.import?.default ?? entry.import ?? entry.default);
  return join(folder ?? '', name, file);
}

function exists(folder: string): boolean {
  try {
    return readFileSync(join(folder, 'package.json')).length > 0;
  } catch {
    return false;
  }
}
