import { locateSpool } from '../account.ts';
import { defineCommand, flag, text } from '../command.ts';
import { stateFolder } from '../config.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatCount } from '../output.ts';
import { createIdentify } from '../read/identity.ts';
import { findKept } from '../read/kept.ts';
import { readKey } from '../redact/key.ts';
import { SESSION_NAMES } from '../sessions/choose.ts';
import { chooseMet } from '../sessions/met.ts';
import { openDecisions } from '../spool/decisions.ts';
import { openSpool } from '../spool/open.ts';

export const skipCommand = defineCommand({
  name: 'skip',
  summary: 'take one session out of capturing',
  description:
    'Captures nothing more of a session, nor of its forks, and throws away what of it was not sent yet. What was sent stays ' +
    'at the service. It need not be captured yet.',
  examples: [
    ['capture skip --last', 'what you just did in this folder'],
    ['capture skip 0199a213 --undo', 'capture it after all'],
  ],
  takes: {
    session: text('[SESSION]', SESSION_NAMES),
    last: flag('--last', 'the session of this folder that was active last'),
    undo: flag('--undo', 'capture it again, with all that was left out meanwhile'),
  },
  async run(context, { session: asked, last, undo }, output) {
    if (asked === undefined && !last) {
      throw new Failure(EXIT.usage, 'Say which session, by its id or with --last.');
    }
    const path = locateSpool(context);
    const spool = openSpool(path ?? ':memory:');
    // It counts for every account: also where nobody is signed in, or nothing was captured yet.
    const alone = path === undefined ? openDecisions(stateFolder(context), { isMade: true }) : undefined;
    try {
      if (path === undefined) spool.copyDecisions(stateFolder(context));
      const { id, agent, session, title = '', sent, unread } = chooseMet(context, spool, last ? undefined : asked);
      const decisions = alone ?? spool.decisions;
      const identify = createIdentify(readKey(stateFolder(context)));
      const notes = undo ? [] : unread.map((file) => findKept(decisions, identify, file));
      const say = () => {
        const verdict = undo ? 'wanted' : 'skipped';
        for (const note of notes) note?.();
        if (id !== undefined && !undo) return spool.keepBack(id, 'skipped', context.now());
        const [, ...forks] = decisions.say(agent, session, verdict, context.now());
        return { dropped: 0, forks: forks.map((fork) => fork.session) };
      };
      const { dropped, forks } = spool.transact(say);
      output.answer({ agent, session, skipped: !undo, forks, droppedEvents: dropped, sent }, [
        `${undo ? 'Captured again' : 'Skipped from now on'}: ${`${agent} ${session} ${title}`.trim()}`,
        ...(forks.length > 0 ? [`With it ${formatCount(forks.length, 'fork')}: ${forks.join(', ')}`] : []),
        ...(dropped > 0 ? [`Thrown away: ${formatCount(dropped, 'event')} that had not been sent.`] : []),
        ...(sent > 0 && !undo
          ? [`${formatCount(sent, 'event')} sent before stay at the service: \`capture delete\` deletes them.`]
          : []),
      ]);
    } finally {
      alone?.close();
      spool.close();
    }
  },
});
