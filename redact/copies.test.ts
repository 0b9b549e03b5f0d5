import { expect, test } from 'vitest';
import { redactOne } from '../cli/test/redacting.ts';
import { createRedactor } from './redactor.ts';
import { made, madeUuid } from './test/made.ts';

const redactor = createRedactor({ key: new Uint8Array(32) });
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };
let sessions = 0;

function redact(output: string, session = `codex ${++sessions}`): string {
  return JSON.stringify(
    redactOne(redactor, { eventType: 'tool.result', payload: { source, output } }, { session }).payload,
  );
}

const SECRETS: { [how: string]: readonly [secret: string, name: string] } = {
  'a UUID': [madeUuid(), 'api_token'],
  'a hash': [made('hex', 40), 'api_token'],
  'small letters and digits': [`q4${made('lower', 26)}7x`, 'api_token'],
  'capitals and digits': [`Q4${made('upper', 22)}7X`, 'api_token'],
  'a short password': [`${made('letters', 4)}7Kp${made('digits', 1)}`, 'password'],
};

test.each(Object.entries(SECRETS))(
  '%s that its name tells is masked wherever its record repeats it',
  (_how, [secret, name]) => {
    const masked = redact(`${name} = '${secret}' | '${secret}'\nthen (robin/${secret}) at the door`);
    expect(masked).not.toContain(secret);
  },
);

test.each(['a UUID', 'a hash'])('%s is left in the other records of the session', (how) => {
  const [secret = '', name] = SECRETS[how] ?? [];
  const session = `codex ${++sessions}`;
  redact(`${name} = '${secret}'`, session);
  expect(redact(`commit ${secret} by robin`, session)).toContain(secret);
});

test("words and names in code after a secret's name stay unchanged where they are repeated", () => {
  for (const word of ['opensesame', 'XmlStringMaxLen256', 'correct-horse', 'Password1']) {
    expect(redact(`DB_PASSWORD=${word}\nthe ${word} of the file`)).toContain(`the ${word} of the file`);
  }
});
