import { type Compilable, CompiledQuery } from 'kysely';

/** A query compiled once; each use binds its parameters by name. */
export type Prepared<Input> = (input: Input) => CompiledQuery;

/**
 * Compiles a query whose parameters are given later. `build` sees a stand-in for each parameter and must use it as a
 * plain value, once or several times.
 */
export function prepare<Input extends object>(build: (input: Input) => Compilable): Prepared<Input> {
  const marks = new Map<symbol, keyof Input>();
  const standIns = new Proxy({} as Input, {
    get(_, name) {
      const mark = Symbol(String(name));
      marks.set(mark, name as keyof Input);
      return mark;
    },
  });
  const { sql, parameters } = build(standIns).compile();
  const names = parameters.map((value) => marks.get(value as symbol));
  const fixed = [...parameters];
  return (input) =>
    CompiledQuery.raw(
      sql,
      fixed.map((value, index) => {
        const name = names[index];
        return name === undefined ? value : input[name];
      }),
    );
}
