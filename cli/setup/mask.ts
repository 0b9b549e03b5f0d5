import { readSettings } from '../config.ts';
import { type Context, credentialsOf } from '../context.ts';
import { createRedactor } from '../redact/redactor.ts';

/** A text as it may be shown on a screen, which may be shared or recorded. */
export type Mask = (text: string) => string;

const PLACE = { agent: 'init', session: 'init', file: '', position: 0 };

/** Masks what agents' settings hold besides hooks: keys of services, in `env` for example. What cannot be read is left out. */
export function createMask(context: Context): Mask {
  const { variables, home, now } = context;
  const { secret } = readSettings(context);
  const secrets = secret === undefined ? [] : [secret];
  const redactor = createRedactor({ variables, home, credentials: credentialsOf(context), secrets, now });
  return (text) => {
    const [masked] = redactor.redact([{ eventType: 'record', payload: { source: PLACE, rest: text } }], {
      session: '',
    });
    const rest = masked?.eventType === 'record' ? masked.payload.rest : '';
    return typeof rest === 'string' ? rest : '';
  };
}
