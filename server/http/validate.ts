import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Problem } from '../../contract/problem.ts';
import { compiledOnUse } from './compiled.ts';

/** Checks a value. */
export type Validate = (value: unknown) => void;

const validatorOf = compiledOnUse((schema: TSchema) => Compile(schema));

/** @throws Problem `validation_failed` from the returned function, naming the field by its JSON pointer */
export function createValidate(schema: TSchema): Validate {
  const compiled = validatorOf(schema);
  return (value) => {
    const validator = compiled();
    if (validator.Check(value)) return;
    const [first] = validator.Errors(shorten(value, schema));
    const field = first ? pointerOf(first) : '/';
    throw new Problem('validation_failed', `${field} ${first?.message ?? 'is wrong'}.`);
  };
}

interface Shape {
  properties?: Record<string, Shape>;
  items?: Shape;
  maxItems?: number;
}

/**
 * The value, with each list cut after its first superfluous item. The check stops at the first failure, but the search for the
 * failing item's name would visit every item: 180 ms for a list of 256 KiB.
 */
function shorten(value: unknown, schema: Shape): unknown {
  const { properties, items, maxItems = 100 } = schema;
  if (items && Array.isArray(value)) return value.slice(0, maxItems + 1).map((item) => shorten(item, items));
  if (!properties || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = value as Record<string, unknown>;
  const named = Object.entries(properties).filter(([name]) => Object.hasOwn(fields, name));
  return { ...fields, ...Object.fromEntries(named.map(([name, shape]) => [name, shorten(fields[name], shape)])) };
}

interface Failure {
  keyword: string;
  instancePath: string;
  params: object;
}

/** The library reports a missing field at its surrounding object. The field's own pointer helps more. */
function pointerOf({ keyword, instancePath, params }: Failure): string {
  const missing =
    keyword === 'required' ? (params as { requiredProperties?: string[] }).requiredProperties?.[0] : undefined;
  return missing === undefined ? instancePath || '/' : `${instancePath}/${missing}`;
}
