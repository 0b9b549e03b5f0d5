import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningService } from '../harness/service.ts';

/** The link in the last mail to a person. */
export function linkTo({ dataDir }: RunningService, email: string): string {
  const outbox = join(dataDir, 'outbox');
  const mails = readdirSync(outbox)
    .sort()
    .map((file) => readFileSync(join(outbox, file), 'utf8'));
  const last = mails.filter((mail) => mail.includes(`To: ${email}`)).at(-1) ?? '';
  return /https?:\S+/.exec(last.replace(/=\r?\n/g, '').replaceAll('=3D', '='))?.[0] ?? '';
}
