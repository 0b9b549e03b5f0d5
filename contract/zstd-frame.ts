/** The magic number of a frame: its first four bytes, read in little endian. */
const MAGIC = 0xfd2fb528;
/** The lengths of the fields that the descriptor encodes in two bits each. */
const DICTIONARY_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];
const RLE = 1;

/** Whether the bytes are one zstd frame and nothing else. */
export const isOneFrame = (bytes: Uint8Array): boolean => splitFrames(bytes, 1) !== undefined;

/**
 * Splits bytes into their zstd frames (RFC 8878 §3.1.1), as views. Each frame must be decoded separately: whether a decoder
 * continues after the first frame depends on the size of its output chunks.
 * @returns undefined if there is anything else between them, no frame, or more than `most`
 */
export function splitFrames<Bytes extends Uint8Array>(bytes: Bytes, most: number): Bytes[] | undefined {
  const frames: Bytes[] = [];
  for (let rest = bytes; rest.byteLength > 0 || frames.length === 0; ) {
    const end = unlessCutOff(rest, (view) => (view.getUint32(0, true) === MAGIC ? endOfFrame(view) : undefined));
    if (end === undefined || end > rest.byteLength || frames.length === most) return undefined;
    frames.push(rest.subarray(0, end) as Bytes);
    rest = rest.subarray(end) as Bytes;
  }
  return frames;
}

/** The decoded size of a frame, if its header declares it; undefined for other bytes. */
export const contentSizeOf = (bytes: Uint8Array): number | undefined =>
  unlessCutOff(bytes, (view) => {
    const { sizeAt, sizeBytes } = readHeader(view);
    if (view.getUint32(0, true) !== MAGIC || sizeBytes === 0) return undefined;
    if (sizeBytes === 1) return view.getUint8(sizeAt);
    if (sizeBytes === 2) return view.getUint16(sizeAt, true) + 256;
    return sizeBytes === 4 ? view.getUint32(sizeAt, true) : Number(view.getBigUint64(sizeAt, true));
  });

/** Reads from the bytes; undefined if they end too early. */
function unlessCutOff<Result>(bytes: Uint8Array, read: (view: DataView) => Result): Result | undefined {
  try {
    return read(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The position and the length of the content size in a frame's header. */
function readHeader(view: DataView) {
  const descriptor = view.getUint8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  return {
    sizeAt: 5 + (isSingleSegment ? 0 : 1) + Number(DICTIONARY_BYTES[descriptor & 0x03]),
    sizeBytes: sizeFlag === 0 && isSingleSegment ? 1 : Number(CONTENT_SIZE_BYTES[sizeFlag]),
  };
}

/** @throws RangeError if the frame is cut off */
function endOfFrame(view: DataView): number {
  const hasChecksum = (view.getUint8(4) & 0x04) !== 0;
  const { sizeAt, sizeBytes } = readHeader(view);
  let at = sizeAt + sizeBytes;
  for (let isLast = false; !isLast; ) {
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    isLast = (header & 1) === 1;
    at += 3 + (((header >> 1) & 0x03) === RLE ? 1 : header >> 3);
  }
  return at + (hasChecksum ? 4 : 0);
}
