/** Settles as the promise does, or rejects with what `late` makes once that many milliseconds have passed. */
export async function within<Answer>(ms: number, promise: Promise<Answer>, late: () => Error): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
