import { existsSync } from 'node:fs';
import { type Account, findSpool } from '../account.ts';
import { defineCommand } from '../command.ts';
import { readSettings, type Settings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { MAX_MEGABYTES, MEGABYTE } from '../daemon/room.ts';
import { describe } from '../failure.ts';
import { inspectHooks } from '../hooks/inspect.ts';
import type { Output } from '../output.ts';
import { type Preferences, readPreferences } from '../preferences.ts';
import { openSpool } from '../spool/open.ts';
import { describeAgents, describeHooks, reportAgents } from '../status/agents.ts';
import { describeDaemon, readDaemon } from '../status/daemon.ts';
import { chooseNext } from '../status/next.ts';
import { askService, describeService } from '../status/service.ts';
import { describeSpool, readSpool } from '../status/spool.ts';
import { describeTranscripts, lookAtTranscripts } from '../status/transcripts.ts';

export const statusCommand = defineCommand({
  name: 'status',
  summary: 'show what is captured, sent and waiting',
  description:
    'Shows where captures go, whether the daemon runs, which agents were found, and what is waiting to be sent. Ends with ' +
    'the command to run next, if there is one; `capture doctor` looks closer.',
  examples: [
    ['capture status', 'for people'],
    ['capture status --json', 'for programs'],
  ],
  run: runStatus,
});

/** Shows all it knows, and fails when nobody is signed in. */
export async function runStatus(context: Context, _options: object, output: Output): Promise<void> {
  const folder = stateFolder(context);
  const settings = readSettings(context);
  const { report: service, account, problem } = await askService(context, settings, folder);
  const { preferences, preferencesTrouble } = tryPreferences(context);
  const local = lookAround(context, { folder, settings, account, preferences, isAsked: !preferencesTrouble });
  const { spool, transcripts, daemon } = local;
  const hooks = await inspectHooks(context, { asksVersions: false });
  const agents = reportAgents(transcripts, spool?.sent);
  const next = chooseNext({ service, daemon, hooks, spool, transcripts, preferencesTrouble });
  const report = {
    ...{ ...service, running: daemon.running, daemon, stateFolder: folder, agents },
    hooks: hooks.filter(({ found }) => found),
    unread: transcripts.reduce((sum, one) => sum + one.unread.length, 0),
    leftOut: transcripts.flatMap((one) => one.leftOut),
    ...(preferencesTrouble && { preferencesTrouble }),
    ...spool,
    ...(next && { next }),
  };
  const now = context.now();
  output.answer(report, [
    ...describeService(service),
    ...describeDaemon(daemon, now),
    ...describeHooks(hooks),
    ...describeAgents(agents),
    ...describeTranscripts(transcripts, now),
    ...(preferencesTrouble ? [`Preferences   ${preferencesTrouble}`] : []),
    ...describeSpool(spool, now),
    ...(next ? ['', `Next: ${next}`] : []),
  ]);
  if (problem !== undefined) throw problem;
}

interface Around {
  folder: string;
  settings: Partial<Settings>;
  account: Account | undefined;
  preferences: Preferences;
  isAsked: boolean;
}

/** What this machine alone tells: the spool, the transcripts, and the daemon by what it noted in the spool. */
function lookAround(context: Context, { folder, settings, account, preferences, isAsked }: Around) {
  const path = findSpool(folder, settings, account);
  const isThere = path !== undefined && existsSync(path);
  const spool = openSpool(isThere ? path : ':memory:');
  try {
    const capBytes = (preferences.spool?.maxMegabytes ?? MAX_MEGABYTES) * MEGABYTE;
    return {
      spool: isThere ? readSpool(spool, capBytes) : undefined,
      transcripts: lookAtTranscripts(context, spool, { isAsked }),
      daemon: readDaemon(context, spool.getMeta('daemon')),
    };
  } finally {
    spool.close();
  }
}

function tryPreferences(context: Context): { preferences: Preferences; preferencesTrouble?: string } {
  try {
    return { preferences: readPreferences(context) };
  } catch (error) {
    return { preferences: {}, preferencesTrouble: describe(error) };
  }
}
