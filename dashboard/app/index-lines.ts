import type { Entry } from '../../transcript/entry/entry.ts';

/** The fields that the dashboard reads of a line of a session's index. */
export interface Line {
  entries: readonly Entry[];
}

/** Yields the JSON lines of a stream as they arrive. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunksOf(body)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line) as Line;
  }
  if (rest.trim() !== '') yield JSON.parse(rest) as Line;
}

/** Some browsers cannot iterate over streams. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}
