const LEVELS: Readonly<Record<string, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

/** A line of the log for a person at a terminal: time, level, message, fields. A line that is not JSON stays as it is. */
export function toText(line: string): string {
  const entry = parseEntry(line);
  if (entry === undefined) return line;
  // A terminal shows one process, so its id and host are left out.
  const { level, time, msg, err, pid: _pid, hostname: _hostname, ...fields } = entry;
  const words = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const { stack } = (err ?? {}) as { stack?: unknown };
  // A message with line breaks could look like several log lines.
  const message = String(msg ?? '').replace(/[\r\n]+/g, ' ');
  const lines = [[at, LEVELS[String(level)], message, ...words].filter(Boolean).join(' '), ...(stack ? [stack] : [])];
  // A request may have put control characters into a message: they must not command the terminal.
  return `${lines.join('\n').replace(/[^\P{Cc}\n\t]/gu, '')}\n`;
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
