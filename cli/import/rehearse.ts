import { existsSync } from 'node:fs';
import { findSpool, recallAccount } from '../account.ts';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { formatBytes, formatCount, type Output } from '../output.ts';
import { openReader } from '../pipeline.ts';
import type { Place, Trouble } from '../read/discover.ts';
import { openSpool } from '../spool/open.ts';

export interface RehearseOptions {
  places: readonly Place[];
  onTrouble: (trouble: Trouble) => void;
}

/** Reads what an import would read, into a spool that is thrown away. */
export async function rehearse(context: Context, { places, onTrouble }: RehearseOptions, output: Output) {
  const folder = stateFolder(context);
  const settings = readSettings(context);
  const spool = openSpool(':memory:');
  const { url, secret } = settings;
  const path = findSpool(folder, settings, url && secret ? recallAccount(url, secret, folder) : undefined);
  if (path !== undefined && existsSync(path)) spool.copyCursors(path);
  const reader = openReader(context, { folder, settings, spool }, { patienceMs: 0, onTrouble });
  const work = reader.findWork(places);
  await reader.read(work, {
    isStopped: () => context.stop.aborted,
    onCommit: async () => spool.batches.removeAll(),
  });
  const counts = spool.counters();
  const files = work.sessions.flat().length;
  output.answer({ files, sessions: work.sessions.length, bytes: work.bytes, ...counts }, [
    `${formatCount(files, 'file')} of ${formatCount(work.sessions.length, 'session')} (${formatBytes(work.bytes)}): ` +
      `${formatCount(counts.recordsCaptured, 'record')} would become ${formatCount(counts.eventsSpooled, 'event')}, ` +
      `${formatCount(counts.secretsMasked, 'secret')} masked. Nothing was captured.`,
  ]);
  spool.close();
}
