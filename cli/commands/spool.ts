import { formatCount } from '../../contract/count.ts';
import { defineCommand, flag } from '../command.ts';
import { stateFolder } from '../config.ts';
import { isDaemonRunning } from '../daemon/control.ts';
import { confirm } from '../prompt.ts';
import { createBatching } from '../read/batching.ts';
import { withSpool } from '../sessions/choose.ts';

const retryCommand = defineCommand({
  name: 'retry',
  summary: 'send refused events again',
  description: 'Sends the events again that the service refused, for example after an update of the service.',
  examples: [['capture spool retry', 'sends the refused events again']],
  run: (context, _values, output) =>
    withSpool(context, (spool) => {
      const events = spool.transact(() => {
        const batching = createBatching({ spool, now: context.now, newKey: context.newKey });
        for (const { session, event } of spool.refused.list()) batching.add(session, Buffer.from(event));
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
  summary: 'delete refused events',
  description:
    'Deletes the events that the service refused, after asking. To delete events of a session that wait to be sent, use ' +
    '`capture skip`.',
  examples: [['capture spool drop', 'asks, then deletes them']],
  takes: { yes: flag('--yes', 'do not ask') },
  run: (context, { yes }, output) =>
    withSpool(context, async (spool) => {
      const droppedEvents = spool.refused.count();
      if (droppedEvents === 0) return output.answer({ droppedEvents }, ['Nothing was refused.']);
      const events = formatCount(droppedEvents, 'refused event');
      const question = `Throw ${events} away?`;
      if (!yes) await confirm(context, output, { lines: [], question });
      spool.refused.removeAll();
      output.answer({ droppedEvents }, [`Thrown away: ${events}.`]);
    }),
});

export const spoolCommand = defineCommand({
  name: 'spool',
  summary: 'send refused events again, or delete them',
  description: 'Events that the service refuses are kept until you decide; see `capture status`.',
  examples: [
    ['capture spool retry', 'sends them again'],
    ['capture spool drop', 'deletes them'],
  ],
  commands: [retryCommand, dropCommand],
});
