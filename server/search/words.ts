/**
 * Adds the words by which an event is found. Whoever derives calls it for each event of a chunk.
 * @param payload as it was parsed; anything at all
 */
export function collectWords(_eventType: string, payload: unknown, words: Set<string>): void {
  for (const [word] of JSON.stringify(payload)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu))
    words.add(word);
}
