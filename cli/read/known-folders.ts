/** A folder in which an agent keeps its sessions by default. */
export interface KnownFolder {
  /** The agent's id in the catalog, or a name of the same form. */
  agent: string;
  name: string;
  /** Below the home folder. */
  folders: readonly string[];
  /** Whether a path below the folder is a session. */
  sessions: RegExp;
  /** Why no reader exists, for agents that are not supported. */
  reason?: string;
}

const LINES = /\.jsonl$/;
const JSON_FILES = /\.json$/;
const TASKS = /^[^/]+\/ui_messages\.json$/;
const NOT_YET = 'its format is not read yet';

/** The settings folders of VS Code on Linux, macOS and Windows. */
const extension = (id: string): string[] =>
  ['.config', 'Library/Application Support', 'AppData/Roaming'].map(
    (folder) => `${folder}/Code/User/globalStorage/${id}/tasks`,
  );

/** The data folder of the programs that follow the rules of freedesktop.org on all systems. */
const data = (path: string) => `.local/share/${path}`;

/**
 * The well-known agents, whether a reader exists or not. A row has an effect only while no reader covers it, so it needs no
 * change when an agent becomes supported. It is independent of the readers, because it notices that one of them is missing.
 */
export const KNOWN_FOLDERS: readonly KnownFolder[] = [
  { agent: 'claude-code', name: 'Claude Code', folders: ['.claude/projects'], sessions: LINES },
  {
    agent: 'codex',
    name: 'Codex',
    folders: ['.codex/sessions', '.codex/archived_sessions'],
    sessions: /\.jsonl(\.zst)?$/,
  },
  { agent: 'copilot-cli', name: 'Copilot CLI', folders: ['.copilot/session-state'], sessions: LINES },
  { agent: 'qwen-code', name: 'Qwen Code', folders: ['.qwen/projects'], sessions: LINES },
  { agent: 'pi', name: 'pi', folders: ['.pi/agent/sessions'], sessions: LINES },
  { agent: 'oh-my-pi', name: 'oh-my-pi', folders: ['.omp/agent/sessions'], sessions: LINES },
  { agent: 'droid', name: 'Droid', folders: ['.factory/sessions', '.factory/projects'], sessions: LINES },
  { agent: 'gemini-cli', name: 'Gemini CLI', folders: ['.gemini/tmp'], sessions: /(^|\/)chats\/.*\.jsonl?$/ },
  {
    agent: 'antigravity-cli',
    name: 'Antigravity CLI',
    folders: ['.gemini/antigravity-cli/brain'],
    sessions: /(^|\/)transcript_full\.jsonl$/,
  },
  {
    agent: 'cursor',
    name: 'Cursor',
    folders: ['.cursor/projects'],
    sessions: /(^|\/)agent-transcripts\/.*\.(jsonl|txt)$/,
  },
  { agent: 'opencode', name: 'OpenCode', folders: [data('opencode')], sessions: /^opencode[^/]*\.db$/ },
  { agent: 'kilo', name: 'Kilo Code', folders: [data('kilo')], sessions: /^kilo[^/]*\.db$/ },
  { agent: 'kilo', name: 'Kilo Code', folders: extension('kilocode.kilo-code'), sessions: TASKS },
  { agent: 'goose', name: 'Goose', folders: [data('goose/sessions')], sessions: /^sessions\.db$/ },
  { agent: 'cline', name: 'Cline', folders: ['.cline/data/sessions'], sessions: JSON_FILES },
  { agent: 'cline', name: 'Cline', folders: extension('saoudrizwan.claude-dev'), sessions: TASKS },
  { agent: 'roo-code', name: 'Roo Code', folders: extension('rooveterinaryinc.roo-cline'), sessions: TASKS },
  { agent: 'aider', name: 'Aider', folders: ['.'], sessions: /^\.aider\.chat\.history\.md$/ },
  { agent: 'custom', name: 'Custom agents', folders: ['.capture/custom'], sessions: LINES },
  {
    agent: 'amp',
    name: 'Amp',
    folders: [data('amp/threads')],
    sessions: JSON_FILES,
    reason: 'it keeps its threads on a server',
  },
  {
    agent: 'antigravity',
    name: 'Antigravity',
    folders: ['.gemini/antigravity'],
    sessions: /^conversations\/.*\.(pb|db)$|(^|\/)transcript[^/]*\.jsonl$/,
    reason: 'it encrypts its conversations in part',
  },
  { agent: 'continue', name: 'Continue', folders: ['.continue/sessions'], sessions: JSON_FILES, reason: NOT_YET },
  {
    agent: 'crush',
    name: 'Crush',
    folders: [data('crush')],
    sessions: /^projects\.json$/,
    reason: 'it keeps a database in each project',
  },
  { agent: 'grok', name: 'Grok Build', folders: ['.grok/sessions'], sessions: LINES, reason: NOT_YET },
  {
    agent: 'hermes',
    name: 'Hermes',
    folders: ['.hermes'],
    sessions: /^state\.db$|^sessions\/.*\.jsonl?$/,
    reason: NOT_YET,
  },
  { agent: 'iflow', name: 'iFlow CLI', folders: ['.iflow/projects'], sessions: LINES, reason: NOT_YET },
  { agent: 'kimi', name: 'Kimi CLI', folders: ['.kimi/sessions'], sessions: LINES, reason: NOT_YET },
  { agent: 'kiro', name: 'Kiro CLI', folders: ['.kiro/sessions'], sessions: LINES, reason: NOT_YET },
  { agent: 'kiro', name: 'Kiro CLI', folders: [data('kiro-cli')], sessions: /^data\.sqlite3$/, reason: NOT_YET },
  {
    agent: 'openclaw',
    name: 'OpenClaw',
    folders: ['.openclaw/agents'],
    sessions: /(^|\/)sessions\/[^/]+\.jsonl$/,
    reason: NOT_YET,
  },
  { agent: 'vibe', name: 'Mistral Vibe', folders: ['.vibe/logs/session'], sessions: /\.jsonl?$/, reason: NOT_YET },
  {
    agent: 'windsurf',
    name: 'Windsurf',
    folders: ['.codeium/windsurf/cascade'],
    sessions: /\.pb$/,
    reason: 'it encrypts its conversations',
  },
];
