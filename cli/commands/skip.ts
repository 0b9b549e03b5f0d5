import { formatCount } from '../../contract/count.ts';
import { locateSpool } from '../account.ts';
import { defineCommand, flag, text } from '../command.ts';
import { stateFolder } from '../config.ts';
import { EXIT, Failure } from '../failure.ts';
import { SESSION_NAMES } from '../sessions/choose.ts';
import { chooseToDecide } from '../sessions/known.ts';
import { noteRecords } from '../sessions/notes.ts';
import { openSpool } from '../spool/open.ts';

export const skipCommand = defineCommand({
  name: 'skip',
  summary: 'stop capturing one session',
  description:
    'Captures nothing more of a session and its forks, and deletes its waiting events. Events already sent stay at the ' +
    'service. Also works before the session was captured.',
  examples: [
    ['capture skip --last', 'the latest session in this folder'],
    ['capture skip 0199a213 --undo', 'capture it again'],
  ],
  takes: {
    session: text('[SESSION]', SESSION_NAMES),
    last: flag('--last', 'the latest session of this folder'),
    undo: flag('--undo', 'capture it again, including the events that were left out meanwhile'),
  },
  async run(context, { session: asked, last, undo }, output) {
    if (asked === undefined && !last) {
      throw new Failure(EXIT.usage, 'Name a session by its id, or use --last.');
    }
    const folder = stateFolder(context);
    // A skip applies to every account, so it also works if nobody is signed in or nothing was captured yet.
    const spool = openSpool(locateSpool(context) ?? ':memory:', folder);
    try {
      const { agent, session, title = '', sent, unread } = chooseToDecide(context, spool, last ? undefined : asked);
      const note = undo ? () => {} : noteRecords(context, spool, { agent, session, unread });
      const say = () => {
        note();
        // If the session was captured after it was chosen, it now has a row.
        const known = spool.sessions.find(agent, session);
        if (known && !undo) return spool.keepBack(known.id, 'skipped', context.now());
        const [, ...forks] = spool.decisions.decide(agent, session, undo ? 'wanted' : 'skipped', context.now());
        return { dropped: 0, forks: forks.map((fork) => fork.session) };
      };
      const { dropped, forks } = spool.transact(say);
      output.answer({ agent, session, skipped: !undo, forks, droppedEvents: dropped, sent }, [
        `${undo ? 'Captured again' : 'Skipped from now on'}: ${`${agent} ${session} ${title}`.trim()}`,
        ...(undo
          ? ['The events that were left out meanwhile are sent by the daemon, or by the next `capture import`.']
          : []),
        ...(forks.length > 0 ? [`Also ${formatCount(forks.length, 'fork')}: ${forks.join(', ')}`] : []),
        ...(dropped > 0 ? [`Deleted ${formatCount(dropped, 'event')} that waited to be sent.`] : []),
        ...(sent > 0 && !undo
          ? [`${formatCount(sent, 'event')} sent earlier stay at the service; \`capture delete\` deletes them.`]
          : []),
      ]);
    } finally {
      spool.close();
    }
  },
});
