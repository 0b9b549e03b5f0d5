/** The key that goes with letters for commands, as this machine's keyboard names it. */
export const COMMAND_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl ';

/** What this machine most likely has, to show first: the one to be connected may be another. */
export const SYSTEM = /Windows/.test(navigator.userAgent)
  ? 'Windows'
  : /Mac|iPhone|iPad/.test(navigator.userAgent)
    ? 'macOS'
    : 'Linux';
