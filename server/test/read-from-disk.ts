import { writeFileSync } from 'node:fs';
import { Problem } from '../../contract/problem.ts';
import { naming } from '../log/damaged.ts';
import { assertReadable } from '../store/events.ts';
import { openStore } from '../store/open.ts';
import { toProblem } from '../to-problem.ts';

/*
 * A program that opens the store on a sound disk, and then reads a session once under each order to the disk. It prints how the
 * service answers each read: the code of the problem, or `read`.
 */
const [dataDir = '', organizationId = '', sessionId = '', ...disk] = process.argv.slice(2);
const store = await openStore({ dataDir, onError: () => undefined, onLost: () => process.exit(70) });
const place = { organizationId, sessionId };
const answers: object[] = [];
for (const order of disk) {
  writeFileSync(process.env.DISK_ORDERS as string, order);
  const answer = await naming(place, () => assertReadable(store.db, place)).then(() => 'read', toProblem);
  answers.push(
    answer instanceof Problem ? { order, code: answer.code, retryAfter: answer.retryAfter } : { order, code: answer },
  );
}
process.stdout.write(JSON.stringify(answers), () => process.exit());
