import type { MessagePort } from 'node:worker_threads';
import type { CapturedEvent } from '../../../contract/transcript.ts';
import { parseExact } from '../../read/exact.ts';
import { createBudget } from '../budget.ts';
import { createEventRedactor } from '../event.ts';
import { createKnownFinder } from '../known/finder.ts';

export interface ServeOptions {
  key: Uint8Array;
  allow: readonly string[];
  port: MessagePort;
  /** Counts what the worker has said; the other side waits for it to change. */
  signal: Int32Array<SharedArrayBuffer>;
}

/** An event as JSON, which keeps numbers that are written exactly; the known values where there are new ones. */
export interface Request {
  json: string;
  known?: string[];
}

/** Without `json` the event is as it was. */
export interface Reply {
  json?: string;
  failed?: boolean;
}

/** What the worker does: masks what it is sent. Whether it takes too long is for the other side to say. */
export function serve({ key, allow, port, signal }: ServeOptions): void {
  let finder = createKnownFinder([]);
  const budget = createBudget(() => 0);
  const { redactEvent } = createEventRedactor({ known: () => finder, key, allow, budget });

  function answer({ json, known }: Request): Reply {
    try {
      if (known !== undefined) finder = createKnownFinder(known);
      const before = parseExact(json) as CapturedEvent;
      const after = redactEvent(before);
      return after === before ? {} : { json: JSON.stringify(after) };
    } catch {
      return { failed: true };
    }
  }

  function speak(): void {
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  }

  port.on('message', (request: Request) => {
    port.postMessage(answer(request));
    speak();
  });
  speak();
}
