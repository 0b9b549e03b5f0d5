/** Keys that were seen, by their beginnings, concatenated: a list would take more room in the JSON of the facts. */
export interface KeyForm {
  /** The characters of a key that distinguish it. */
  length: number;
  /** The most keys that are kept: the latest ones. */
  most: number;
}

export const addKey = (keys: string, key: string, { length, most }: KeyForm): string =>
  (keys + key.slice(0, length)).slice(-length * most);

export function hasKey(keys: string, key: string, { length }: KeyForm): boolean {
  const wanted = key.slice(0, length);
  let at = keys.indexOf(wanted);
  while (at > 0 && at % length !== 0) at = keys.indexOf(wanted, at + 1);
  return at >= 0;
}
