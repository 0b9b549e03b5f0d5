import { createRedactor } from '../../redact/redactor.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import { createDetectSecrets, createGitleaks, createSecretlint, type Masker } from './others.ts';

/** Options with the paths of other tools; tools without a path are left out. */
export const MASKERS = {
  gitleaks: { type: 'string' },
  secretlint: { type: 'string' },
  'detect-secrets': { type: 'string' },
} as const;

export const OURS = 'Session Capture';

/** The maskers by name, ours first. Each text is masked separately. */
export async function createMaskers(
  places: { [name in keyof typeof MASKERS]?: string | undefined },
): Promise<{ [name: string]: Masker }> {
  return {
    [OURS]: maskApart,
    ...(places.gitleaks && { gitleaks: createGitleaks(places.gitleaks) }),
    ...(places['detect-secrets'] && { 'detect-secrets': createDetectSecrets(places['detect-secrets']) }),
    ...(places.secretlint && { secretlint: await createSecretlint(places.secretlint) }),
  };
}

const redactor = createRedactor({ key: new Uint8Array(32) });
const source = { agent: 'bench', session: 'bench', file: 'example', position: 0 };
let sessions = 0;

const maskApart: Masker = async (texts) =>
  texts.map((output) => {
    const event: CapturedEvent = { eventType: 'tool.result', payload: { source, output } };
    const [{ payload } = event] = redactor.redact([event], { session: `bench ${++sessions}` });
    if (payload.redactions?.withheld) throw new Error(`Withheld: ${output}`);
    return String((payload as { output?: unknown }).output);
  });

/** Masks the JSON records of one session. As in capture, a secret found in one record is also masked in later ones. */
export function maskSession(records: readonly string[]): string[] {
  const session = `bench ${++sessions}`;
  return records.map((record) => {
    const event: CapturedEvent = { eventType: 'record', payload: { source, rest: JSON.parse(record) } };
    const [{ payload } = event] = redactor.redact([event], { session });
    if (payload.redactions?.withheld) throw new Error(`Withheld: ${record}`);
    return JSON.stringify((payload as { rest?: unknown }).rest);
  });
}

/** Whether the masked text still has eight letters in a row of the secret, or 40 % of it. */
export function survives(secret: string, masked: string): boolean {
  const length = Math.min(secret.length, Math.max(8, Math.ceil(secret.length * 0.4)));
  return Array.from({ length: secret.length - length + 1 }).some((_, start) =>
    masked.includes(secret.slice(start, start + length)),
  );
}
