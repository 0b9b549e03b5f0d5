import { compressZstd } from './compression.ts';

/** One append in a request with many. */
export interface FramedAppend {
  sessionId: string;
  idempotencyKey: string;
  expectedEvents?: number | undefined;
  /** `{"events":[…]}` as one zstd frame that declares its size. */
  frame: Uint8Array;
}

/** The body of `POST /v1/appends`: a zstd frame with the index, then the frame of each append. */
export function writeAppends(appends: readonly FramedAppend[]): Buffer<ArrayBuffer> {
  const index = {
    appends: appends.map(({ sessionId, idempotencyKey, expectedEvents }) => ({
      sessionId,
      idempotencyKey,
      expectedEvents,
    })),
  };
  return Buffer.concat([compressZstd(JSON.stringify(index)), ...appends.map(({ frame }) => frame)]);
}
