import { sql } from 'kysely';
import { openStore } from '../store/open.ts';
import { runAtOnce } from '../store/rows.ts';

/* A program that writes 300 derived transactions, then others until one fails, and prints how many of each succeeded. */
const [dataDir = ''] = process.argv.slice(2);
const { db } = await openStore({ dataDir, onError: () => undefined, onLost: () => undefined });
const change = sql`update organizations set updated_at = updated_at + 1`;
const done = { derived: 0, synced: 0 };
try {
  for (; done.derived < 300; done.derived++) await runAtOnce(db, [change]);
  for (; done.synced < 300; done.synced++) await change.execute(db);
} catch {
  // The disk no longer syncs.
}
process.stdout.write(JSON.stringify(done), () => process.exit());
