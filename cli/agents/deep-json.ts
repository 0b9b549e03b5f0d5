/**
 * `JSON.stringify` for values of any depth: that one gives up where its recursion fills the stack, at a few thousand levels,
 * while `JSON.parse` reads a hundred thousand. Numbers kept by `JSON.rawJSON` are written as they were read.
 */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return writeDeep(value);
    throw error;
  }
}

const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean };

/** A container that is being written, and what of it is still to come. */
interface Open {
  entries: Iterator<[key: string | number, value: unknown]>;
  close: '}' | ']';
  isEmpty: boolean;
}

function writeDeep(root: unknown): string {
  const pieces: string[] = [];
  const open: Open[] = [];

  function write(value: unknown): void {
    if (typeof value !== 'object' || value === null || isRawJSON(value)) pieces.push(JSON.stringify(value) ?? 'null');
    else if (Array.isArray(value)) begin('[', { entries: value.entries(), close: ']', isEmpty: true });
    else begin('{', { entries: Object.entries(value).values(), close: '}', isEmpty: true });
  }

  function begin(bracket: string, container: Open): void {
    pieces.push(bracket);
    open.push(container);
  }

  write(root);
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const { value: entry, done } = last.entries.next();
    if (done) {
      pieces.push(last.close);
      open.pop();
      continue;
    }
    const [key, value] = entry;
    if (value === undefined && typeof key === 'string') continue;
    if (!last.isEmpty) pieces.push(',');
    last.isEmpty = false;
    if (typeof key === 'string') pieces.push(`${JSON.stringify(key)}:`);
    write(value);
  }
  return pieces.join('');
}
