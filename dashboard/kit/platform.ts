/** The modifier key for shortcuts, as this machine's keyboard names it. */
export const COMMAND_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl ';

/** The system of this machine, as a first guess for the machine to connect, which may be another one. */
export const SYSTEM = /Windows/.test(navigator.userAgent)
  ? 'Windows'
  : /Mac|iPhone|iPad/.test(navigator.userAgent)
    ? 'macOS'
    : 'Linux';
