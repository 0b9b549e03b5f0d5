/** Longer at a stretch would be felt: a frame is 16 ms, of which the browser needs its part. */
const STRETCH_MS = 10;

/** Gives the page its turn after a stretch of work: undefined as long as there is time, else to be waited for. */
export function createRest(now = () => performance.now()): () => Promise<void> | undefined {
  let since = now();
  return () => {
    if (now() - since < STRETCH_MS) return undefined;
    return yieldToPage().then(() => {
      since = now();
    });
  };
}

/** A message comes after what the page has to do; a timer would come 4 ms later. */
export const yieldToPage = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
