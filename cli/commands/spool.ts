import { defineCommand, flag, text, texts } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatBytes, formatCount, type Output } from '../output.ts';
import { alignColumns } from '../sessions/columns.ts';
import { type DropChoice, describeDoomed, drop, findDoomed } from '../sessions/drop.ts';
import { createExport, exportEvents } from '../sessions/export.ts';
import { locateSpool, requireSpool } from '../sessions/spool.ts';
import { describeWaiting, listWaiting } from '../sessions/waiting.ts';
import { createAsker } from '../setup/ask.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import { chooseSessions } from '../verify/choose.ts';

const SESSION = "the agent's id of a session or its beginning, ses_…, or a transcript";

const listCommand = defineCommand({
  name: 'list',
  summary: 'list what waits, by session',
  description: 'Lists what waits to be sent and what was refused, by session. What has waited longest comes first.',
  examples: [['capture spool list', 'by session, with age and size']],
  run: async (context, _values, output) => list(context, output),
});

const exportCommand = defineCommand({
  name: 'export',
  summary: 'write what waits as lines of JSON',
  description:
    'Writes every event that waits, and those that the service refused with the reason, one a line. Secrets are masked as ' +
    'they would be sent. Changes nothing.',
  examples: [
    ['capture spool export > waiting.jsonl', 'to a pipe or file'],
    ['capture spool export 0199a213 --to session.jsonl', 'of one session, to a new file'],
  ],
  arguments: { sessions: texts('[SESSION...]', `${SESSION}; all by default`) },
  options: { to: text('--to <file>', 'write to a new file that only you can read') },
  run: async (context, choice, output) => withSpool(context, (spool) => save(context, spool, choice, output)),
});

const dropCommand = defineCommand({
  name: 'drop',
  summary: 'throw away what waits',
  description: 'Throws away what was captured and not sent, after saying what is lost and asking.',
  examples: [
    ['capture spool drop 0199a213', 'what of a session is not sent'],
    ['capture spool drop --refused', 'events that the service will never take'],
    ['capture spool drop --all --yes', 'everything, without asking'],
  ],
  arguments: { sessions: texts('[SESSION...]', SESSION) },
  options: {
    refused: flag('--refused', 'the events that the service refused'),
    all: flag('--all', 'everything that waits or was refused'),
    yes: flag('--yes', 'do not ask'),
  },
  run: (context, choice, output) => withSpool(context, (spool) => throwAway(context, spool, choice, output)),
});

export const spoolCommand = defineCommand({
  name: 'spool',
  summary: 'look at what waits to be sent, save it, or throw it away',
  description: 'What was captured waits in the spool until the service has acknowledged it.',
  examples: [
    ['capture spool list', 'what waits, by session'],
    ['capture spool export > waiting.jsonl', 'saves it'],
  ],
  commands: [listCommand, exportCommand, dropCommand],
});

async function withSpool(context: Context, use: (spool: Spool) => void | Promise<void>): Promise<void> {
  const spool = requireSpool(context);
  try {
    await use(spool);
  } finally {
    spool.close();
  }
}

function list(context: Context, output: Output): void {
  const path = locateSpool(context);
  const spool = path === undefined ? undefined : openSpool(path);
  try {
    const sessions = spool ? listWaiting(spool) : [];
    const depth = spool?.batches.depth() ?? { events: 0, batches: 0, bytes: 0 };
    const refused = sessions.reduce((sum, session) => sum + session.refused, 0);
    const { events, batches, bytes } = depth;
    output.answer({ events, batches, bytes, refused, sessions }, [
      ...alignColumns(
        sessions.map((session) => describeWaiting(session, context.now())),
        context,
      ),
      events === 0 ? 'Nothing waits to be sent.' : `${formatCount(events, 'event')} wait, ${formatBytes(bytes)}.`,
      ...(refused > 0 ? [`${formatCount(refused, 'event')} refused: \`capture spool export\` tells why.`] : []),
    ]);
  } finally {
    spool?.close();
  }
}

function save(
  context: Context,
  spool: Spool,
  { sessions, to }: { sessions: string[]; to: string | undefined },
  output: Output,
): void {
  const chosen = sessions.length === 0 ? undefined : chooseSessions(context, spool, { sessions });
  const meant = chosen && new Set(chosen.map(({ id }) => id));
  if (to === undefined) {
    const counts = exportEvents(spool, { sessions: meant, write: (line) => context.stdout.write(line) });
    output.say(`${describeCounts(counts)}.`);
    return;
  }
  const file = createExport(context, to);
  try {
    const counts = exportEvents(spool, { sessions: meant, write: file.write });
    output.answer({ ...counts, file: file.path }, [`${describeCounts(counts)} written to ${file.path}.`]);
  } finally {
    file.close();
  }
}

const describeCounts = ({ waiting, refused }: { waiting: number; refused: number }) =>
  `${formatCount(waiting, 'waiting event')} and ${formatCount(refused, 'refused one')}`;

async function throwAway(
  context: Context,
  spool: Spool,
  { yes, ...choice }: DropChoice & { yes: boolean },
  output: Output,
): Promise<void> {
  const doomed = findDoomed(context, spool, choice);
  if (doomed.events + doomed.refused === 0) {
    return output.answer({ droppedEvents: 0, droppedRefused: 0, sessions: 0 }, ['There is nothing of that to drop.']);
  }
  if (!yes) {
    if (!context.stdin.isTTY) {
      throw new Failure(EXIT.usage, 'There is no terminal to ask on.', 'Give --yes, after `capture spool list`.');
    }
    for (const line of describeDoomed(doomed)) output.say(line);
    const asker = createAsker(context);
    const isWanted = await asker.ask('Throw that away?').finally(asker.close);
    if (!isWanted) throw new Failure(EXIT.failure, 'Nothing was dropped.', '`capture spool export` saves it first.');
  }
  const { events, refused, isSending } = drop(stateFolder(context), spool, doomed);
  output.answer({ droppedEvents: events, droppedRefused: refused, sessions: doomed.sessions.length }, [
    `Dropped: ${formatCount(events, 'waiting event')} and ${formatCount(refused, 'refused one')}.`,
    ...(yes ? describeDoomed(doomed) : []),
  ]);
  if (isSending) output.say('The daemon was sending meanwhile: what was on its way may have arrived.');
}
