import { type Settings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { describe, Failure } from '../failure.ts';
import { isChange } from '../hooks/change.ts';
import { applyChange } from '../hooks/install.ts';
import { booksOf } from '../hooks/plan.ts';
import { formatCount, type Output } from '../output.ts';
import { isTemporary } from '../upload/problem.ts';
import { trustHooks } from './codex-trust.ts';
import { type Starter, setUpDaemon } from './daemon.ts';
import { captureHistory } from './earlier-history.ts';
import { copyProgram, withLastingProgram } from './lasting-program.ts';
import type { PlannedAgent, Preview } from './preview.ts';
import { type Registered, register } from './register.ts';
import { installScript } from './script-file.ts';

export interface Work {
  settings: Settings;
  planned: Preview;
  /** Undefined where Codex is not to be told; `ask` is absent where the answer is yes. */
  trust: { ask: ((question: string) => Promise<boolean>) | undefined } | undefined;
}

export type Trust = 'trusted' | 'already' | 'declined' | 'failed' | 'not needed';

export interface Done {
  registered: Registered | undefined;
  /** Ids of the agents whose hooks stand as they should. */
  installed: string[];
  codexTrust: Trust;
  starter: Starter;
  failures: number;
  lines: string[];
}

/** Does what was shown and agreed to. What fails is told, and keeps nothing else from being done. */
export async function carryOut(context: Context, { settings, planned, trust }: Work, output: Output): Promise<Done> {
  let failures = 0;
  const fail = (sentence: string) => {
    failures++;
    output.warn(sentence);
  };
  const registered = await tryRegister(context, settings, planned, output);
  await captureHistory(context, { planned: planned.agents, isReachable: registered !== undefined }, output);
  if (planned.daemon.starter !== 'none') copyProgram(planned.program);
  installScript(context, { startsDaemon: planned.daemon.starter === 'hook' });
  const installed = planned.agents.filter((agent) => installAgent(context, agent, fail)).map(({ row }) => row.id);
  const codex = planned.agents.find(({ row }) => row.id === 'codex');
  const codexTrust = codex ? await tryTrust(context, codex, trust, output) : 'not needed';
  if (codexTrust === 'failed') failures++;
  const starter = await setUpDaemon(context, planned.daemon);
  // The supervisor would not: then the hooks must.
  if (starter === 'hook') installScript(context, { startsDaemon: true });
  if (starter !== planned.daemon.starter && planned.daemon.starter !== 'none')
    output.warn(describeFallback(context, starter));
  const lines = [
    `Hooks are installed for ${formatCount(installed.length, 'agent')}; each leaves a note in ${stateFolder(context)}.`,
    'Next: `capture import` captures what is there already, `capture status` shows how it goes.',
  ];
  return { registered, installed, codexTrust, starter, failures, lines };
}

/** The supervisor that was shown refused. */
function describeFallback(context: Context, starter: Starter): string {
  if (starter === 'hook') return 'The system would not run the daemon, so the hooks start it.';
  if (starter === 'run-key') {
    return 'Windows would not make a task, so it starts the daemon when you sign in, and not again should it end.';
  }
  const command = [...withLastingProgram(context).program.map((word) => `"${word}"`), 'run'].join(' ');
  return (
    'Windows would neither make a task nor note a program to start, so nothing starts the daemon. Capture by leaving ' +
    `\`capture run\` open, or put a shortcut to this into the folder that shell:startup opens: ${command}`
  );
}

async function tryRegister(
  context: Context,
  settings: Settings,
  { agents }: Preview,
  output: Output,
): Promise<Registered | undefined> {
  try {
    const registered = await register(context, settings, agents);
    output.say(`Registered ${context.hostname} and ${formatCount(agents.length, 'agent')} with ${settings.url}.`);
    for (const trouble of registered.troubles) output.warn(trouble);
    return registered;
  } catch (error) {
    const isTimeout = error instanceof Error && ['TimeoutError', 'AbortError'].includes(error.name);
    if (context.stop.aborted || error instanceof Failure || !(isTimeout || isTemporary(error))) throw error;
    output.warn(`${settings.url} cannot be reached now. The machine is registered when it first sends.`);
    return undefined;
  }
}

/** True where the agent has its hooks. */
function installAgent(context: Context, { row, files }: PlannedAgent, fail: (sentence: string) => void): boolean {
  let complete = files.length > 0;
  for (const file of files) {
    try {
      if (isChange(file)) applyChange(file, booksOf(context, row.id));
      else if (file.kind === 'unparsable') fail(`${file.path} was left alone: ${file.reason}.`);
      complete &&= isChange(file);
    } catch (error) {
      fail(`${file.path} could not be changed: ${describe(error)}`);
      complete = false;
    }
  }
  return complete;
}

async function tryTrust(context: Context, codex: PlannedAgent, trust: Work['trust'], output: Output): Promise<Trust> {
  const { program, folder, files } = codex;
  const hooks = files.find(isChange);
  if (hooks === undefined) return 'not needed';
  if (program === undefined || trust === undefined) {
    output.warn('Codex runs hooks only once they are trusted: type /hooks in Codex and trust those of capture.');
    return 'declined';
  }
  const question =
    `Codex runs a hook only when it was told to trust it. Have Codex trust the entries that run \`capture\`'s hook in ` +
    `${hooks.path}? Codex notes that in its config.toml; no other hook is trusted.`;
  if (trust.ask) {
    if (!(await trust.ask(question))) {
      output.say('Then type /hooks in Codex and trust them there, or no hook rings.');
      return 'declined';
    }
  }
  try {
    const count = await trustHooks(context, program, folder);
    if (count > 0) output.say(`Codex now trusts ${formatCount(count, 'hook')} of capture in ${hooks.path}.`);
    return count > 0 ? 'trusted' : 'already';
  } catch (error) {
    output.warn(
      `Codex was not told to trust the hooks: ${describe(error)}. Type /hooks in Codex and trust them there.`,
    );
    return 'failed';
  }
}
