import { readLocal, writeLocal } from './local-storage.ts';

/** One value for each of the things that a reader used last, such as sessions, stored in the browser. */
export interface Kept<Value> {
  read(id: string): Value | undefined;
  /** Pass undefined to forget the value. */
  write(id: string, value: Value | undefined): void;
}

type Pair<Value> = [id: string, value: Value];

/** @param most how many things are stored; the values of others are forgotten */
export function createKept<Value>(
  name: string,
  most: number,
  isValue: (value: unknown) => value is Value,
): Kept<Value> {
  const isPair = (pair: unknown): pair is Pair<Value> =>
    Array.isArray(pair) && typeof pair[0] === 'string' && isValue(pair[1]);
  const readAll = () => {
    const kept = readLocal(name);
    return Array.isArray(kept) ? kept.filter(isPair) : [];
  };
  return {
    read: (id) => readAll().find(([each]) => each === id)?.[1],
    write(id, value) {
      const others = readAll().filter(([each]) => each !== id);
      writeLocal(name, (value === undefined ? others : [[id, value], ...others]).slice(0, most));
    },
  };
}
