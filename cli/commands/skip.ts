import { defineCommand, flag, text } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatCount, type Output } from '../output.ts';
import { nameSession, readSkipped, writeSkipped } from '../privacy/skipped.ts';
import { chooseSession, withSpool } from '../sessions/choose.ts';

interface SkipOptions {
  session: string | undefined;
  last: boolean;
  undo: boolean;
}

export const skipCommand = defineCommand({
  name: 'skip',
  summary: 'take one session out of capturing',
  description:
    'Captures nothing more of a session, and throws away what of it was not sent yet. What was sent stays at the service.',
  examples: [
    ['capture skip --last', 'what you just did in this folder'],
    ['capture skip 0199a213 --undo', 'capture it after all'],
  ],
  arguments: { session: text('[SESSION]', "the agent's id of a session or its beginning, ses_…, or a transcript") },
  options: {
    last: flag('--last', 'the session of this folder that was active last'),
    undo: flag('--undo', 'capture it again, with all that was left out meanwhile'),
  },
  run: runSkip,
});

async function runSkip(context: Context, options: SkipOptions, output: Output): Promise<void> {
  if (options.session === undefined && !options.last) {
    throw new Failure(EXIT.usage, 'Say which session, by its id or with --last.');
  }
  await withSpool(context, (spool) => {
    const session = chooseSession(context, spool, options.last ? undefined : options.session);
    const { id, agent, agentSession } = session;
    const name = nameSession(agent, agentSession);
    const skipped = new Set(readSkipped(context));
    if (options.undo) skipped.delete(name);
    else skipped.add(name);
    writeSkipped(context, skipped);
    const dropped = options.undo ? 0 : spool.transact(() => spool.batches.removeSession(id));
    output.answer(
      { agent, session: agentSession, skipped: !options.undo, droppedEvents: dropped, sent: session.sent },
      [
        `${options.undo ? 'Captured again' : 'Skipped from now on'}: ${agent} ${agentSession} ${session.title ?? session.prompt ?? ''}`,
        ...(dropped > 0 ? [`Thrown away: ${formatCount(dropped, 'event')} that had not been sent.`] : []),
        ...(session.sent > 0 && !options.undo
          ? [
              `${formatCount(session.sent, 'event')} were sent before and stay at the service: \`capture delete\` takes them away.`,
            ]
          : []),
      ],
    );
  });
}
