import { Problem } from '../../contract/problem.ts';
import { SessionLog } from '../ingest/session-log.ts';
import { openStore } from '../store/open.ts';

/* A program that appends to sessions until the store fails. It prints a line of JSON before and after each append. */
const [dataDir = '', organizationId = '', sessionIds = ''] = process.argv.slice(2);
const write = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);
let isLost = false;

const store = await openStore({
  dataDir,
  onError: () => undefined,
  onLost(error) {
    isLost = true;
    write({ lost: error.name, errcode: (error as { errcode?: number }).errcode });
  },
});
const log = new SessionLog({ db: store.db, journal: store.journal, committed: () => undefined, now: Date.now });

async function appendInTurn(sessionId: string, caller: number): Promise<void> {
  for (let count = 0; !isLost && count < 2_000; count++) {
    const text = `${caller}/${count}`;
    const events = [{ eventType: 'notice', payload: Buffer.from(JSON.stringify({ text })) }];
    write({ sessionId, sent: text });
    try {
      const batch = {
        organizationId,
        plane: 'live',
        sender: String(caller),
        idempotencyKey: null,
        fingerprint: '',
      } as const;
      const { firstSequence } = await log.append({ ...batch, sessionId, events });
      write({ sessionId, stored: text, firstSequence });
    } catch (error) {
      write({ sessionId, refused: text, status: error instanceof Problem ? error.status : String(error) });
    }
  }
}

await Promise.all(
  sessionIds
    .split(',')
    .flatMap((sessionId, index) => [0, 1, 2].map((caller) => appendInTurn(sessionId, 3 * index + caller))),
);
process.exit(isLost ? 70 : 1);
