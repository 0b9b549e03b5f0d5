import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Problem } from '../../contract/problem.ts';

/** Checks a value, and says of a wrong one which field is wrong and why. */
export type Validate = (value: unknown) => void;

/** @throws Problem `validation_failed` from the returned function, naming the field by its JSON pointer */
export function createValidate(schema: TSchema): Validate {
  const validator = Compile(schema);
  return (value) => {
    if (validator.Check(value)) return;
    const [first] = validator.Errors(value);
    const field = first ? pointerOf(first) : '/';
    throw new Problem('validation_failed', `${field} ${first?.message ?? 'is wrong'}.`);
  };
}

interface Failure {
  keyword: string;
  instancePath: string;
  params: object;
}

/** A missing field is reported at the object around it; its own pointer helps more. */
function pointerOf({ keyword, instancePath, params }: Failure): string {
  const missing =
    keyword === 'required' ? (params as { requiredProperties?: string[] }).requiredProperties?.[0] : undefined;
  return missing === undefined ? instancePath || '/' : `${instancePath}/${missing}`;
}
