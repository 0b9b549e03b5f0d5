import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PEERS_FILE, type Peers, readTraps, type Trap } from './prices-traps.ts';

/**
 * Runs other tools on the priced traps, each in a home folder with only that trap, and writes what they say.
 * `node script/price-peers.ts [FOLDER]`: the tools are in `FOLDER/node_modules`, otherwise npm installs them in a temporary folder.
 */

interface Tool {
  name: string;
  version: string;
  /** What npm installs besides the tool itself. */
  also?: string[];
  /** The agents that the tool reads, by its own help. */
  agents: readonly string[];
  arguments: readonly string[];
  /** Dollars in its output. */
  read(output: string): number;
}

const TOOLS: readonly Tool[] = [
  {
    name: 'ccusage',
    version: '20.0.24',
    agents: ['claude-code', 'codex', 'copilot-cli', 'gemini-cli', 'qwen-code', 'pi'],
    arguments: ['daily', '--json', '--offline', '--mode', 'calculate'],
    read: (output) => numberAt(JSON.parse(output), 'totals', 'totalCost'),
  },
  {
    name: 'tokscale',
    version: '1.4.3',
    also: ['bun'],
    agents: ['claude-code', 'codex', 'gemini-cli', 'pi'],
    arguments: ['models', '--json'],
    read: (output) => numberAt(JSON.parse(output), 'totalCost'),
  },
  {
    name: 'codeburn',
    version: '0.9.15',
    agents: ['claude-code', 'codex', 'copilot-cli', 'gemini-cli', 'qwen-code', 'pi'],
    arguments: ['models', '--from', '2025-01-01', '--to', '2026-12-31', '--format', 'json'],
    read: (output) => (JSON.parse(output) as unknown[]).reduce<number>((sum, row) => sum + numberAt(row, 'costUSD'), 0),
  },
];

function numberAt(value: unknown, ...path: string[]): number {
  const found = path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);
  return typeof found === 'number' ? found : 0;
}

const TRAPS = 'samples/prices';
const LIST_PRICES = `${TRAPS}/list-prices.json`;

/** Some tools download prices and keep them here for a day. With the list prices in it they also run without a network. */
function keepPrices(home: string): void {
  const folder = join(home, '.cache', 'tokscale');
  mkdirSync(folder, { recursive: true });
  const timestamp = Math.floor(Date.now() / 1000);
  const data = JSON.parse(readFileSync(LIST_PRICES, 'utf8'));
  writeFileSync(join(folder, 'pricing-litellm.json'), JSON.stringify({ timestamp, data }));
  writeFileSync(join(folder, 'pricing-openrouter.json'), JSON.stringify({ timestamp, data: {} }));
}

/** What a tool says of a trap: dollars, or null if it fails. */
function ask(tool: Tool, tools: string, trap: Trap): number | null {
  const home = mkdtempSync(join(tmpdir(), 'trap-'));
  const programs = join(tools, 'node_modules', '.bin');
  try {
    cpSync(join(TRAPS, trap.name), home, { recursive: true });
    keepPrices(home);
    const output = execFileSync(join(programs, tool.name), tool.arguments, {
      cwd: home,
      env: { HOME: home, PATH: `${programs}:${process.env.PATH}`, TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
      timeout: 60_000,
    });
    return Math.round(tool.read(output) * 1_000_000) / 1_000_000;
  } catch (error) {
    console.error(`${tool.name} failed on ${trap.name}: ${(error as Error).message.split('\n')[0]}`);
    return null;
  } finally {
    rmSync(home, { recursive: true });
  }
}

function install(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tools-'));
  const packages = TOOLS.flatMap(({ name, version, also = [] }) => [`${name}@${version}`, ...also]);
  execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages], { stdio: 'inherit' });
  return folder;
}

const tools = process.argv[2] ?? install();
const peers: Peers = {
  date: new Date().toISOString().slice(0, 10),
  tools: TOOLS.map((tool) => {
    const read = readTraps().filter(({ agent }) => tool.agents.includes(agent));
    const dollars = Object.fromEntries(read.map((trap) => [trap.name, ask(tool, tools, trap)]));
    return { name: tool.name, version: tool.version, dollars };
  }),
};
writeFileSync(PEERS_FILE, `${JSON.stringify(peers, null, 1)}\n`);
console.log(`${PEERS_FILE} written. Run: npm run generate`);
