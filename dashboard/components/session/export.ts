import type { Client } from '../../../contract/client.ts';

/** Saves all events of a session as a file, one JSON object a line. */
export async function exportEvents(api: Client, sessionId: string): Promise<void> {
  const lines: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: '1000', ...(cursor && { cursor }) };
    const { events, nextCursor } = (await api.listSessionEvents({ sessionId, query })).body;
    for (const event of events) lines.push(JSON.stringify(event));
    cursor = nextCursor ?? undefined;
  } while (cursor);
  const address = URL.createObjectURL(new Blob([lines.join('\n'), '\n'], { type: 'application/x-ndjson' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${sessionId}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
