/**
 * Compiles a schema on its first use, once per process. Most processes use only a few of the schemas, and compiling all of them
 * took half of the start.
 * @returns a function from a schema to the compiled one
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
