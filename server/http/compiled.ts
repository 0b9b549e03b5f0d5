/**
 * Compiles a schema when it is first used, and once in a process. Most processes use few of all the schemas, and compiling
 * them all was half the work of a start.
 * @returns for a schema, what gives the compiled one
 */
export function compiledOnUse<Schema extends object, Compiled>(
  compile: (schema: Schema) => Compiled,
): (schema: Schema) => () => Compiled {
  const made = new WeakMap<Schema, Compiled>();
  return (schema) => () => {
    const compiled = made.get(schema) ?? compile(schema);
    made.set(schema, compiled);
    return compiled;
  };
}
