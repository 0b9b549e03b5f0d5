import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../../contract/quote.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import type { IsOurs } from './edit.ts';
import { readFile, removeEmpty, replaceFile } from './file.ts';

/** The facts needed to locate the script. */
export type Where = Pick<Context, 'variables' | 'home' | 'platform'>;

const EXECUTABLE = 0o755;

export const scriptPath = (context: Where): string =>
  join(stateFolder(context), 'bin', context.platform === 'win32' ? 'hook.cmd' : 'hook');

/** A command line that runs the script. Cursor may run it without a shell. */
export const commandOf = (context: Where, agent: string): string => `${quotedPath(context)} ${agent}`;

/** Whether a command line runs the script. */
export const isOursOn =
  (context: Where): IsOurs =>
  (command) =>
    ` ${command} `.includes(` ${quotedPath(context)} `);

const quotedPath = (context: Where): string => {
  const path = scriptPath(context);
  return context.platform === 'win32' ? `"${path}"` : shellWord(path);
};

/** Writes the script into the state folder, and creates the folder that the script writes to. */
export function writeScript(context: Where): void {
  const path = scriptPath(context);
  const text = hookScript(context);
  mkdirSync(join(stateFolder(context), 'inbox', 'cursor'), { recursive: true, mode: 0o700 });
  // The script is only written if it differs, because a shell may be reading it.
  if (readFile(path)?.toString('utf8') !== text) replaceFile(path, text, EXECUTABLE);
}

export function removeScript(context: Where): void {
  rmSync(scriptPath(context), { force: true });
  removeEmpty(['bin', 'hooks', 'inbox', 'inbox/cursor'].map((name) => join(stateFolder(context), name)));
}

/**
 * The script that stores Cursor's messages. The shell does everything but the copying by itself. A message gets its final
 * name once it is complete; an incomplete one is deleted. The script always reads its whole input, because an agent that
 * cannot write all of it reports our hook as broken.
 */
export const hookScript = (context: Where): string =>
  context.platform === 'win32'
    ? BATCH
    : `#!/bin/sh
# Session Capture. Cursor runs this script for an event and passes the event on standard input. The script stores the event
# until it is captured, since Cursor stores it nowhere else. It prints nothing, uses no network, and always succeeds.
# \`capture init\` writes this file, \`capture uninstall\` removes it.
exec >/dev/null 2>&1
[ "$1" = cursor ] || exit 0
# A folder of a project may come first in an agent's.
PATH=/usr/bin:/bin\${PATH:+:$PATH}
umask 077
inbox=${shellWord(join(stateFolder(context), 'inbox', 'cursor'))}

keep() {
  [ -d "$inbox" ] || mkdir -p "$inbox"
  [ -w "$inbox" ] || return 1
  number=0
  set -C
  while [ -e "$inbox/$$-$number.json" ] || ! true >"$inbox/$$-$number.part"; do
    number=$((number + 1))
    [ "$number" -lt 20 ] || return 1
  done
  set +C
  if cat >"$inbox/$$-$number.part"; then
    mv "$inbox/$$-$number.part" "$inbox/$$-$number.json"
  else
    rm -f "$inbox/$$-$number.part"
    return 1
  fi
}

# A terminal would never end, and a closed input cannot be read.
if [ -t 0 ] || [ ! -e /dev/fd/0 ]; then exit 0; fi
keep || cat
exit 0
`;

/**
 * The same script for Windows. PowerShell copies the message, since cmd's own programs change tabs or cut long lines. The
 * folder is relative to the script, because cmd would read a folder name in this file in another code page. PowerShell has its
 * whole path, because cmd looks for programs in the current folder first, and that may be a stranger's repository.
 */
const BATCH = [
  '@echo off',
  'rem Session Capture. Cursor runs this script for an event. The script stores the event until it is captured.',
  'rem `capture init` writes this file, `capture uninstall` removes it.',
  'if not "%~1"=="cursor" exit /b 0',
  'set "CAPTURE_INBOX=%~dp0..\\inbox\\cursor"',
  `"%SystemRoot%\\System32\\WindowsPowerShell\\v1.0\\powershell.exe" -NoProfile -NonInteractive -Command "${[
    "$ErrorActionPreference = 'Stop'",
    '[void][IO.Directory]::CreateDirectory($env:CAPTURE_INBOX)',
    '$path = [IO.Path]::Combine($env:CAPTURE_INBOX, [guid]::NewGuid())',
    "$file = [IO.File]::Create($path + '.part')",
    'try { [Console]::OpenStandardInput().CopyTo($file) } finally { $file.Close() }',
    "[IO.File]::Move($path + '.part', $path + '.json')",
  ].join('; ')}" >nul 2>nul`,
  'exit /b 0',
  '',
].join('\r\n');
