import { defineCommand, flag, text } from '../command.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatCount } from '../output.ts';
import { nameSession, readSkipped, writeSkipped } from '../privacy/policy.ts';
import { chooseSession, SESSION_NAMES, withSpool } from '../sessions/choose.ts';

export const skipCommand = defineCommand({
  name: 'skip',
  summary: 'take one session out of capturing',
  description:
    'Captures nothing more of a session, and throws away what of it was not sent yet. What was sent stays at the service.',
  examples: [
    ['capture skip --last', 'what you just did in this folder'],
    ['capture skip 0199a213 --undo', 'capture it after all'],
  ],
  takes: {
    session: text('[SESSION]', SESSION_NAMES),
    last: flag('--last', 'the session of this folder that was active last'),
    undo: flag('--undo', 'capture it again, with all that was left out meanwhile'),
  },
  run(context, { session: asked, last, undo }, output) {
    if (asked === undefined && !last) {
      throw new Failure(EXIT.usage, 'Say which session, by its id or with --last.');
    }
    return withSpool(context, (spool) => {
      const session = chooseSession(context, spool, last ? undefined : asked);
      const { id, agent, agentSession, sent } = session;
      const skipped = readSkipped(context);
      skipped[undo ? 'delete' : 'add'](nameSession(agent, agentSession));
      writeSkipped(context, skipped);
      const dropped = undo ? 0 : spool.transact(() => spool.batches.removeSession(id));
      const name = `${agent} ${agentSession} ${session.title ?? session.prompt ?? ''}`;
      output.answer({ agent, session: agentSession, skipped: !undo, droppedEvents: dropped, sent }, [
        `${undo ? 'Captured again' : 'Skipped from now on'}: ${name}`,
        ...(dropped > 0 ? [`Thrown away: ${formatCount(dropped, 'event')} that had not been sent.`] : []),
        ...(sent > 0 && !undo
          ? [`${formatCount(sent, 'event')} sent before stay at the service: \`capture delete\` deletes them.`]
          : []),
      ]);
    });
  },
});
