/** A text as it is sent: in UTF-8, or as it is where there was no room for it. */
export type Text = Buffer | string;

/**
 * Keeps texts until they are committed, outside of the engine's heap: as strings they last long enough to be moved to what it
 * collects as a whole, and that is done twice as often then. `bytes` are its room; a text that does not fit stays a string.
 */
export function createTexts(bytes: number) {
  let room: Buffer | undefined;
  let used = 0;

  return {
    keep(text: string): Text {
      room ??= Buffer.allocUnsafeSlow(bytes);
      const mayFit = text.length <= bytes - used;
      // Three bytes a letter at the most: seldom has it to be counted.
      if (!mayFit || (3 * text.length > bytes - used && Buffer.byteLength(text) > bytes - used)) return text;
      const start = used;
      used += room.write(text, start);
      return room.subarray(start, used);
    },
    /** What was kept may be overwritten from now on. */
    clear(): void {
      used = 0;
    },
  };
}
