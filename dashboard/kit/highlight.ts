import type { ThemedToken } from 'shiki/core';
import type { Language } from './languages.ts';

export interface HighlightRequest {
  id: number;
  code: string;
  language: Language;
}

type Lines = ThemedToken[][] | undefined;

/** In characters. Longer code is shown in one colour. */
const MOST = 60_000;
const MAX_LINE = 2_000;
/** In milliseconds. A grammar that takes longer will not end, so its worker is replaced by a new one. */
const PATIENCE = 10_000;

let worker: Worker | undefined;
let watch: ReturnType<typeof setTimeout> | undefined;
let count = 0;
const waiting = new Map<number, (lines: Lines) => void>();

/** The tokens of each line; undefined if the code is too long. Colours are CSS variables of the theme. */
export async function highlight(code: string, language: Language): Promise<Lines> {
  if (code.length > MOST || code.split('\n').some((line) => line.length > MAX_LINE)) return undefined;
  worker ??= start();
  const request: HighlightRequest = { id: ++count, code, language };
  worker.postMessage(request);
  return new Promise((resolve) => {
    waiting.set(request.id, resolve);
    watch ??= setTimeout(giveUp, PATIENCE);
  });
}

function start(): Worker {
  const started = new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' });
  started.onmessage = ({ data: { id, lines } }: MessageEvent<{ id: number; lines: Lines }>) => {
    waiting.get(id)?.(lines);
    waiting.delete(id);
    clearTimeout(watch);
    watch = waiting.size > 0 ? setTimeout(giveUp, PATIENCE) : undefined;
  };
  started.onerror = giveUp;
  return started;
}

function giveUp(): void {
  worker?.terminate();
  worker = undefined;
  clearTimeout(watch);
  watch = undefined;
  for (const resolve of waiting.values()) resolve(undefined);
  waiting.clear();
}
