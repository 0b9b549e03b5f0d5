import type { Client } from '../../../contract/client.ts';

/** All events of a session, one JSON object a line. */
export async function readAllEvents(api: Client, sessionId: string): Promise<string> {
  const lines: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: '1000', ...(cursor && { cursor }) };
    const { events, nextCursor } = (await api.listSessionEvents({ sessionId, query })).body;
    for (const event of events) lines.push(JSON.stringify(event));
    cursor = nextCursor ?? undefined;
  } while (cursor);
  return `${lines.join('\n')}\n`;
}

/** Saves a text as a file. */
export function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
