/** The key that goes with letters for commands, as this machine's keyboard names it. */
export const COMMAND_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl ';
