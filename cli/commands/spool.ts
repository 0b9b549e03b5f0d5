import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineCommand, flag, texts } from '../command.ts';
import { stateFolder } from '../config.ts';
import { isDaemonRunning } from '../daemon/control.ts';
import { EXIT, Failure } from '../failure.ts';
import { takeLock } from '../lock.ts';
import { formatCount } from '../output.ts';
import { confirm } from '../prompt.ts';
import { createBatching } from '../read/batching.ts';
import { chooseSessions, SESSION_NAMES, withSpool } from '../sessions/choose.ts';
import type { Spool } from '../spool/open.ts';

const retryCommand = defineCommand({
  name: 'retry',
  summary: 'send again what the service refused',
  description: 'Puts the events that the service refused back to those that wait, as after an update of the service.',
  examples: [['capture spool retry', 'what was refused is sent again']],
  run: (context, _values, output) =>
    withSpool(context, (spool) => {
      const events = spool.transact(() => {
        const batching = createBatching({ spool, now: context.now, newKey: context.newKey });
        for (const { session, event } of spool.refused.list()) batching.add(session, event);
        spool.refused.removeAll();
        return batching.seal();
      });
      const next = isDaemonRunning(stateFolder(context)) ? 'which the daemon does' : '`capture import` does';
      const waiting = `${formatCount(events, 'event')} wait to be sent again: ${next}.`;
      output.answer({ events }, [events === 0 ? 'Nothing was refused.' : waiting]);
    }),
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
  arguments: { sessions: texts('[SESSION...]', SESSION_NAMES) },
  options: {
    refused: flag('--refused', 'the events that the service refused'),
    all: flag('--all', 'everything that waits or was refused'),
    yes: flag('--yes', 'do not ask'),
  },
  run(context, { sessions, refused, all, yes }, output) {
    if ([sessions.length > 0, refused, all].filter(Boolean).length !== 1) {
      throw new Failure(EXIT.usage, 'Say what to drop: a SESSION, --refused or --all.', 'See `capture status`.');
    }
    return withSpool(context, async (spool) => {
      const chosen = new Set(refused ? [] : chooseSessions(context, spool, { sessions }).map(({ id }) => id));
      const waiting = spool.batches.perSession().filter(({ session }) => chosen.has(session));
      const events = waiting.reduce((sum, one) => sum + one.events, 0);
      const refusals = refused || all ? spool.refused.count() : 0;
      const answer = { droppedEvents: events, droppedRefused: refusals, sessions: waiting.length };
      if (events + refusals === 0) return output.answer(answer, ['There is nothing of that to drop.']);
      const lines = waiting.map((one) => describeLost(spool, one));
      if (refusals > 0) lines.push(`${formatCount(refusals, 'refused event')}.`);
      if (!yes)
        await confirm(context, output, { lines, question: 'Throw that away?', declined: 'Nothing was dropped.' });
      // Held, nobody sends meanwhile. A daemon that does finds its batch gone, which it bears.
      const lock = takeLock(stateFolder(context), 'upload');
      spool.transact(() => {
        for (const { session } of waiting) spool.batches.removeSession(session);
        if (refusals > 0) spool.refused.removeAll();
      });
      lock?.release();
      const dropped = `Dropped: ${formatCount(events, 'waiting event')} and ${formatCount(refusals, 'refused one')}.`;
      output.answer(answer, [dropped, ...(yes ? lines : [])]);
      if (lock === undefined) output.say('The daemon was sending meanwhile: what was on its way may have arrived.');
    });
  },
});

/** What is lost, for a person who is about to decide. */
function describeLost(spool: Spool, { session, events }: { session: number; events: number }): string {
  const { agent, agentSession } = spool.sessions.get(session);
  const files = spool.files.ofSession(agent, agentSession);
  const isThere = files.every(({ root, path }) => existsSync(join(root, path.replace(/#.*$/, ''))));
  const where = files.length > 0 && isThere ? 'its transcript still has them' : 'they are nowhere else';
  return `${formatCount(events, 'event')} of ${agent} ${agentSession} that the service does not have: ${where}.`;
}

export const spoolCommand = defineCommand({
  name: 'spool',
  summary: 'send again or throw away what the service does not have',
  description: 'What was captured waits in the spool until the service has acknowledged it; see `capture status`.',
  examples: [
    ['capture spool retry', 'sends again what was refused'],
    ['capture spool drop --refused', 'throws it away'],
  ],
  commands: [retryCommand, dropCommand],
});
