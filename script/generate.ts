import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { OPTIONS } from '../server/config.ts';
import { schemaStatements } from '../server/store/migrate.ts';
import { AGENTS_PAGE, agentsPage } from './agent-matrix.ts';
import { authorization } from './authorization.ts';
import { pricesTraps } from './prices-traps.ts';
import { ROW_TYPES_FILE, rowTypes } from './row-types.ts';
import { RULES_VERSION_FILE, rulesVersion } from './rules-version.ts';

/** Documents and types generated from tables in the code. `--check` writes nothing, and fails if a document is out of date. */
const DOCUMENTS: Record<string, string> = {
  'docs/configuration.md': configuration(),
  'docs/authorization.md': authorization(),
  'docs/prices-traps.md': pricesTraps(),
  [AGENTS_PAGE]: agentsPage(),
  [ROW_TYPES_FILE]: rowTypes(schemaStatements('sqlite')),
  [RULES_VERSION_FILE]: await rulesVersion(),
};

const check = process.argv.includes('--check');
for (const [path, text] of Object.entries(DOCUMENTS)) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  if (check) {
    console.error(`${path} is out of date. Run: npm run generate`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, text);
    console.log(`${path} written`);
  }
}

function configuration(): string {
  const rows = Object.entries(OPTIONS).map(
    ([name, option]) => `| \`${name}\` | ${preset(option.default)} | ${option.about} |`,
  );
  return `# Configuration

The service is configured by environment variables. It checks all of them before it starts, and reports every invalid one.

For each \`NAME\` there is a \`NAME_FILE\`: a path to a file with the value, for secrets that should not be in the
environment. An empty variable counts as absent.

| variable | default | meaning |
| --- | --- | --- |
${rows.join('\n')}

This page is generated from \`server/config.ts\` by \`npm run generate\`.
`;
}

function preset(value: unknown): string {
  return value === undefined || (Array.isArray(value) && value.length === 0) ? '' : `\`${value}\``;
}
