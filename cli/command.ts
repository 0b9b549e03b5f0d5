import type { Context } from './context.ts';
import { EXIT, Failure } from './failure.ts';
import type { Output } from './output.ts';

/** An option such as `--agent <id>` or an argument such as `[PATH...]`, and how to parse it. */
export interface Parameter<Value> {
  flags: string;
  about: string;
  /** Fails if the text is invalid. `before` is the parsed value of the preceding text, if several may be given. */
  parse?(text: string, before: Value | undefined): Value;
  /** The value if the parameter is not given. */
  absent: Value;
}

type Parameters = Record<string, Parameter<unknown>>;

type Values<Given> = { [Name in keyof Given]: Given[Name] extends Parameter<infer Value> ? Value : never };

/** An example command line, and its effect. */
export type Example = readonly [line: string, about: string];

export interface Command<Takes = Parameters, Given = never> {
  name: string;
  /** Half a sentence, for the list of commands. */
  summary: string;
  description: string;
  examples: readonly Example[];
  /** Its arguments, in their order, and its options. */
  takes?: Takes;
  /** Its subcommands, such as `retry` of `spool retry`. */
  commands?: readonly Command[];
  /** Ends with success, or with the exit code that it returns. Absent if only the subcommands do something. */
  run?(context: Context, values: Given, output: Output): Promise<number> | Promise<void>;
}

/** One command: its parameters, its help, and its action. */
export const defineCommand = <Takes extends Parameters = Record<never, never>>(
  definition: Command<Takes, Values<Takes>>,
): Command => definition;

/** An option without a value. */
export const flag = (flags: string, about: string): Parameter<boolean> => ({ flags, about, absent: false });

/** An optional text. */
export const text = (flags: string, about: string): Parameter<string | undefined> => ({
  flags,
  about,
  absent: undefined,
});

/** Any number of texts: several arguments, or an option that may be repeated. */
export const texts = (flags: string, about: string): Parameter<string[]> => ({
  flags,
  about,
  parse: (one, before = []) => [...before, one],
  absent: [],
});

/** How long to wait for the service. Given in seconds, stored in milliseconds. */
export const patience: Parameter<number> = {
  flags: '--patience <seconds>',
  about: 'how long to wait for a service that does not answer (default: 30)',
  parse(given) {
    const seconds = Number(given);
    if (seconds >= 0) return seconds * 1000;
    throw new Failure(EXIT.usage, `${given} is not a number of seconds.`);
  },
  absent: 30_000,
};
