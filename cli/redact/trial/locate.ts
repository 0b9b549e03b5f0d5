/** Tells the line and the column of a place in a text, both from 1. */
export function createLocator(text: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let [from, to] = [0, starts.length];
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      if ((starts[middle] as number) <= offset) from = middle;
      else to = middle;
    }
    return { line: from + 1, column: offset - (starts[from] as number) + 1 };
  };
}
