import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { HookState } from '../../hooks/inspect.ts';
import { hookPath } from '../../hooks/script.ts';
import { formatAge, formatCount } from '../../output.ts';
import type { AgentTranscripts } from '../../status/transcripts.ts';
import type { Facts } from '../facts.ts';
import { type Finding, failed, ok, skipped, warning } from '../finding.ts';

const DAY_MS = 86_400_000;
/** A hook rings before or soon after its record is written. */
const SLACK_MS = 10 * 60_000;
/** What is deleted within this is about to be. */
const SOON_DAYS = 7;

/** What is wrong with an agent's hooks, and with what it leaves of its history. */
export function checkAgent(facts: Facts, state: HookState): Finding[] {
  const troubles = [...findHookTroubles(facts, state), ...findDeletion(facts, state)];
  if (troubles.length > 0) return troubles;
  const { name, version, hooks, lastFiredAt } = state;
  const what = `${name}${version ? ` ${version}` : ''}`;
  if (hooks === 'none') return [ok(`${what}: needs no hook, its sessions are looked for every two seconds.`)];
  const rang = lastFiredAt && `, last rang ${formatAge(facts.context.now() - lastFiredAt)} ago`;
  return [ok(`${what}: hooks installed${rang || ', not rung yet'}.`)];
}

export function checkAbsent({ hooks }: Facts): Finding[] {
  const absent = hooks.filter(({ found }) => !found).map(({ name }) => name);
  return absent.length === 0 ? [] : [skipped(`Not on this machine: ${absent.join(', ')}.`)];
}

function findHookTroubles(facts: Facts, state: HookState): Finding[] {
  const { agent, name, version, hooks, disabled, trusted, files } = state;
  const what = `${name}${version ? ` ${version}` : ''}`;
  const init = `capture init --agent ${agent}`;
  const astray = findAstray(facts, state);
  if (hooks === 'none') return [];
  if (hooks === 'unparsable') {
    const sentence = `${what}: ${files.join(', ')} cannot be read as what it should be.`;
    return [failed(sentence, `Correct the file, then: ${init}`)];
  }
  if (disabled !== undefined) {
    return [warning(`${what}: hooks do not run, since ${disabled}.`, `Take that setting out, then: ${init}`)];
  }
  if (astray.length > 0) return astray;
  if (hooks === 'missing') {
    return [warning(`${what} is installed, and has no hooks: its sessions are found by looking alone.`, init)];
  }
  if (hooks === 'partial') return [warning(`${what}: some of its hooks are missing or changed.`, init)];
  const script = hookPath(facts.state, facts.context.platform);
  if (!existsSync(script)) return [failed(`${what}: its hooks run ${script}, which is not there.`, init)];
  if (trusted === false) {
    return [
      warning(`${what}: its hooks do not run until it is told to trust them.`, `${init}   # or /hooks in ${name}`),
    ];
  }
  return findSilence(facts, state);
}

/** Hooks of ours that run a script other than that of this state folder. */
function findAstray({ context, state: folder }: Facts, { agent, name, files }: HookState): Finding[] {
  const own = hookPath(folder, context.platform);
  const pattern = new RegExp(`(?:'([^']+/bin/hook)'|([^\\s'"]+/bin/hook)) ${agent}\\b`, 'g');
  const scripts = files.flatMap((path) =>
    [...readText(path).matchAll(pattern)].map(([, quoted, plain]) => quoted ?? plain ?? own),
  );
  return [...new Set(scripts)]
    .filter((script) => script !== own)
    .map((script) =>
      existsSync(script)
        ? warning(
            `${name}: its hooks also ring for another state folder, by ${script}.`,
            `CAPTURE_HOME=${join(script, '../..')} capture uninstall`,
          )
        : failed(
            `${name}: its hooks run ${script}, which is not there any more.`,
            `Take the entries with that path out of ${files.join(', ')}, then: capture init --agent ${agent}`,
          ),
    );
}

/** Installed, and yet a session went by without a ring. */
function findSilence(facts: Facts, { agent, name, version, lastFiredAt = 0 }: HookState): Finding[] {
  const newest = Math.max(
    0,
    ...transcriptsOf(facts, name).flatMap(({ found }) => found.map((file) => file.modifiedAt)),
  );
  const installedAt = statSync(join(facts.state, 'hooks', `${agent}.json`), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (newest < Math.max(lastFiredAt, installedAt) + SLACK_MS) return [];
  const last = lastFiredAt === 0 ? 'never rang' : `last rang ${formatAge(facts.context.now() - lastFiredAt)} ago`;
  const sentence = `${name}${version ? ` ${version}` : ''}: its hooks ${last}, though it has written since.`;
  return [warning(sentence, `End ${name} and start it anew; if that does not help: capture init --agent ${agent}`)];
}

function findDeletion(facts: Facts, { name, retention, files }: HookState): Finding[] {
  if (retention === undefined) return [];
  const { setting, days } = retention;
  const now = facts.context.now();
  if (days <= 0) {
    const sentence = `${name} keeps no transcripts, since ${setting} is ${days}: there is nothing to capture.`;
    return [failed(sentence, `Set "${setting}" to a number of days in ${files.join(', ')}.`)];
  }
  const isSoon = (at: number) => now - at > (days - Math.min(SOON_DAYS, days / 2)) * DAY_MS;
  const doomed = transcriptsOf(facts, name).flatMap(({ unread }) =>
    unread.map(({ found }) => found.modifiedAt).filter(isSoon),
  );
  if (doomed.length === 0) return [];
  const oldest = formatAge(now - Math.min(...doomed));
  const sentence =
    `${name} deletes transcripts after ${formatCount(Math.round(days), 'day')} (${setting}), and ` +
    `${formatCount(doomed.length, 'transcript')} that it deletes soon ${doomed.length === 1 ? 'is' : 'are'} not captured; the oldest is ${oldest} old.`;
  return [failed(sentence, 'capture import')];
}

const transcriptsOf = ({ transcripts }: Facts, name: string): AgentTranscripts[] =>
  transcripts.filter(({ agent }) => agent.displayName === name);

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
