import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import { isObject } from '../agents/shared/part.ts';
import type { FormCount } from '../spool/forms.ts';
import { VERSION } from '../version.ts';

/** What no reader knows of a record, by names that its agent gave. Secrets are already masked. */
export interface Form {
  version: string;
  /** Its type, if no reader made an event of it. */
  type?: string;
  /** The fields that no reader took. */
  fields: readonly string[];
}

/** Other names are data, such as paths and ids. */
const NAME = /^[A-Za-z_$][\w$]{0,63}$/;
const TYPE = /^[\w$./: -]{1,64}$/;
/** It becomes a part of the report to the service. */
const AGENT_VERSION = /^[\w.+-]{1,64}$/;

/** The form of a record, from the events that were made of it anyway. */
export function formOf([first]: readonly CapturedEvent[]): Form {
  const { source, rest } = first?.payload ?? {};
  const version = AGENT_VERSION.test(source?.agentVersion ?? '') ? (source?.agentVersion ?? '') : '';
  const fields: string[] = [];
  for (const [name, value] of Object.entries(isObject(rest) ? rest : {})) {
    if (!NAME.test(name)) continue;
    if (!isObject(value)) fields.push(name);
    else for (const inner in value) if (NAME.test(inner)) fields.push(`${name}.${inner}`);
  }
  if (first?.eventType !== 'record') return { version, fields };
  const { kind = '' } = first.payload;
  return { version, fields, type: TYPE.test(kind) ? kind : '' };
}

/** Adds up the forms of a commit. */
export class FormCounts {
  readonly #counts = new Map<string, FormCount>();

  add(agent: string, { version, type, fields }: Form, isTooLong: boolean): void {
    const count = (kind: FormCount['kind'], name = '') => {
      const key = JSON.stringify([agent, version, kind, name]);
      const known = this.#counts.get(key);
      if (known) known.records++;
      else this.#counts.set(key, { agent, version, kind, name, records: 1 });
    };
    count('all');
    if (isTooLong) count('line');
    if (type !== undefined) count('record', type);
    for (const field of fields) count('field', field);
  }

  write(forms: { add(count: FormCount, reader: string, metAt: number): void }, now: number): void {
    for (const one of this.#counts.values()) forms.add(one, VERSION, now);
  }
}
