import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url));

/** Documentation and code of the installed packages, which resemble the text that agents read and write. */
function readCorpus(bytes: number): string {
  const parts: string[] = [];
  let size = 0;
  for (const entry of readdirSync(MODULES, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!entry.isDirectory()) continue;
    for (const file of readdirSync(join(MODULES, entry.name))) {
      if (!/\.(md|js|ts|json)$/i.test(file)) continue;
      const text = readFileSync(join(MODULES, entry.name, file), 'utf8').slice(0, 64 * 1024);
      parts.push(text);
      size += text.length;
      if (size >= bytes) return parts.join('\n');
    }
  }
  return parts.join('\n');
}

/** A seeded random number generator from 0 to 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Makes passages of `length` characters from random places of the corpus. */
export function createPassages(seed: number, corpusBytes = 4_000_000): (length: number) => string {
  const corpus = readCorpus(corpusBytes);
  const random = createRandom(seed);
  return (length) => {
    const start = Math.floor(random() * (corpus.length - length));
    return corpus.slice(start, start + length);
  };
}

/** Makes events with a payload of about `bytes` of JSON. */
export function createEvents(seed: number): (bytes: number) => { eventType: string; payload: object } {
  const passage = createPassages(seed);
  let number = 0;
  return (bytes) => {
    number++;
    const source = { agent: 'codex', session: 'bench', file: 'rollout.jsonl', position: number * bytes };
    const around = JSON.stringify({ source, occurredAt: '2026-11-21T09:12:04.000Z', text: '' }).length;
    const text = shorten(passage(bytes), bytes - around);
    return { eventType: 'assistant.message', payload: { source, occurredAt: '2026-11-21T09:12:04.000Z', text } };
  };
}

/** A prefix of the text that takes at most `bytes` as a JSON string. */
export function shorten(text: string, bytes: number): string {
  let end = text.length;
  while (Buffer.byteLength(JSON.stringify(text.slice(0, end))) - 2 > bytes)
    end -= Math.max(1, Math.floor((end * 1) / 50));
  return text.slice(0, end);
}
