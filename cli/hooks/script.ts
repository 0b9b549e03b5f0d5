import { posix, win32 } from 'node:path';
import { quoteForShell } from './shell.ts';

export interface ScriptOptions {
  /** The folder of capture's own state, absolute. */
  state: string;
  platform: string;
  /** The command that runs the daemon, if the hook is to start it where it does not run. */
  start?: readonly string[] | undefined;
  /** What the daemon must find in its environment. */
  variables?: { readonly [name: string]: string };
  /** The folder of `cat`, `mv` and `rm`. */
  tools?: string;
}

/** What stands in every hook of ours. */
export const SIGNATURE = 'Session Capture. An agent runs this';

export function hookPath(state: string, platform: string): string {
  return platform === 'win32' ? win32.join(state, 'bin', 'hook.cmd') : posix.join(state, 'bin', 'hook');
}

/** A command line that runs the hook. It says no more than which agent rings: agents write it into their transcripts. */
export const plainCommand = (state: string, platform: string, agent: string): string =>
  `${quotedPath(state, platform)} ${agent}`;

/**
 * One for agents that hand it to a shell: where the state folder was deleted by hand it only reads what it is told, since
 * an agent that could not write all of it reports a broken pipe.
 */
export function guardedCommand(state: string, platform: string, agent: string): string {
  const path = quotedPath(state, platform);
  return platform === 'win32'
    ? `${path} ${agent}`
    : `[ -x ${path} ] && exec ${path} ${agent}; [ -t 0 ] || cat >/dev/null 2>&1 || true`;
}

/** Whether a command line runs our hook. */
export const mentionsHook = (state: string, platform: string) => (command: string) =>
  `${command} `.includes(`${quotedPath(state, platform)} `);

const quotedPath = (state: string, platform: string): string => {
  const path = hookPath(state, platform);
  return platform === 'win32' ? `"${path}"` : quoteForShell(path);
};

export const writeScript = (options: ScriptOptions): string =>
  options.platform === 'win32' ? writeBatch(options) : writeShell(options);

/**
 * In the usual path a shell does all of it by itself and then becomes `cat`, so that no process is started. The agent's
 * message is read to its end: an agent that could not write all of it reports our hook as broken.
 */
function writeShell({ state, start, variables = {}, tools = '/bin' }: ScriptOptions): string {
  const [cat, mv, rm] = ['cat', 'mv', 'rm'].map((name) => quoteForShell(`${tools}/${name}`));
  return `#!/bin/sh
# ${SIGNATURE} when something happened: it leaves a note, for the daemon to look sooner. It prints
# nothing, keeps nothing of what the agent says (except for Cursor, which writes it nowhere else), and always succeeds.
# \`capture init\` writes this file, \`capture uninstall\` removes it.
exec >/dev/null 2>&1
state=${quoteForShell(state)}
case \${1-} in '' | *[!a-z0-9-]*) exit 0 ;; esac
umask 077
# A folder of a project may come first in an agent's.
PATH=/usr/bin:/bin:$PATH

keep() {
  inbox=$state/inbox/$1
  [ -d "$inbox" ] || mkdir -p "$inbox"
  [ -w "$inbox" ] || return
  number=0
  set -C
  while [ -e "$inbox/$$-$number.json" ] || ! true >"$inbox/$$-$number.part"; do
    number=$((number + 1))
    [ "$number" -lt 20 ] || return
  done
  set +C
  if ${cat} >"$inbox/$$-$number.part"; then
    ${mv} "$inbox/$$-$number.part" "$inbox/$$-$number.json"
  else
    ${rm} -f "$inbox/$$-$number.part"
  fi
}
[ "$1" != cursor ] || keep cursor

[ -d "$state/notes" ] || mkdir -p "$state/notes"
true >"$state/notes/$1"
${start === undefined ? '' : writeStart(start, variables)}
# A terminal would never end, and what is closed cannot be read.
if [ -t 0 ] || [ ! -e /dev/fd/0 ]; then exit 0; fi
[ ! -x ${cat} ] || LC_ALL=C exec ${cat}
while read -r line; do :; done
exit 0
`;
}

/** The number of a process may be another's after the machine was started anew, which Linux tells by its boot id. */
function writeStart(start: readonly string[], variables: Readonly<Record<string, string>>): string {
  const program = start.map(quoteForShell).join(' ');
  const exports = Object.entries(variables).map(([name, value]) => `  export ${name}=${quoteForShell(value)}\n`);
  return `
start() {
  exec </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
  cd "$state" || exit 0
  # It may be unable to run: then once a minute is often enough.
  [ -z "$(find daemon.started -mmin -1)" ] || exit 0
  true >daemon.started || exit 0
  printf '%s\\n' "$boot" >daemon.boot
  unset NODE_OPTIONS NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE ELECTRON_RUN_AS_NODE
${exports.join('')}  if command -v setsid; then exec setsid ${program}; fi
  trap '' HUP
  exec ${program}
}
pid= boot= before=
read -r pid <"$state/daemon.pid"
read -r boot </proc/sys/kernel/random/boot_id
read -r before <"$state/daemon.boot"
case $pid in
  '' | *[!0-9]*) start & ;;
  *) if ! kill -0 "$pid" || [ "$boot" != "$before" ]; then start & fi ;;
esac
`;
}

/** The same for Windows, where a scheduled task runs the daemon. */
function writeBatch({ state }: ScriptOptions): string {
  const lines = [
    '@echo off',
    `rem ${SIGNATURE} when something happened: it leaves a note, for the daemon to look sooner.`,
    `set "state=${state.replaceAll('%', '%%')}"`,
    'if "%~1"=="" exit /b 0',
    'if not "%~1"=="cursor" goto note',
    'set "name=%random%%random%%random%"',
    'if not exist "%state%\\inbox\\cursor" mkdir "%state%\\inbox\\cursor" >nul 2>nul',
    'more >"%state%\\inbox\\cursor\\%name%.part" 2>nul',
    'move /y "%state%\\inbox\\cursor\\%name%.part" "%state%\\inbox\\cursor\\%name%.json" >nul 2>nul',
    ':note',
    'type nul >"%state%\\notes\\%~1" 2>nul',
    'if not "%~1"=="cursor" findstr "^" >nul 2>nul',
    'exit /b 0',
    '',
  ];
  return lines.join('\r\n');
}
