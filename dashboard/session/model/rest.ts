/** Longer work in one go would be noticeable: a frame has 16 ms, and the browser needs a part of them. */
const STRETCH_MS = 10;

/** Lets the page work after each stretch of time. Returns undefined while there is time left, or else a promise to await. */
export function createRest(now = () => performance.now()): () => Promise<void> | undefined {
  let since = now();
  return () => {
    if (now() - since < STRETCH_MS) return undefined;
    return yieldToPage().then(() => {
      since = now();
    });
  };
}

/** Yields with a message, which arrives after the page's pending work. A timer would fire 4 ms later. */
export const yieldToPage = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
