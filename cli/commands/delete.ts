import type { ServiceError } from '../../contract/client.ts';
import { formatCount } from '../../contract/count.ts';
import { askAccount } from '../account.ts';
import { defineCommand, flag, text } from '../command.ts';
import { requireSettings } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { confirm } from '../prompt.ts';
import { chooseSession, SESSION_NAMES, withSpool } from '../sessions/choose.ts';
import { noteRecords } from '../sessions/notes.ts';
import { explainTrouble } from '../setup/service-address.ts';
import { createKeyOf } from '../upload/client-key.ts';
import { hasCode, hasStatus } from '../upload/problem.ts';
import { createService, type Service } from '../upload/service.ts';

export const deleteCommand = defineCommand({
  name: 'delete',
  summary: 'delete a session at the service',
  description:
    'Deletes a session at the service for good, with all of its events, and captures nothing more of it. ' +
    "The agent's transcript stays. This cannot be undone.",
  examples: [['capture delete 0199a213', 'asks, then deletes it']],
  takes: { session: text('<SESSION>', SESSION_NAMES), yes: flag('--yes', 'do not ask') },
  run: (context, { session = '', yes }, output) => runDelete(context, session, yes, output),
});

async function runDelete(context: Context, asked: string, yes: boolean, output: Output): Promise<void> {
  const service = createService({ ...requireSettings(context), fetch: context.fetch });
  await withSpool(context, async (spool) => {
    const session = chooseSession(context, spool, asked);
    const { id, agent, agentSession, title, prompt, sent, generation } = session;
    const name = `${agent} ${agentSession} ${title ?? prompt ?? ''}`;
    const question = `Delete it at the service, with ${formatCount(sent, 'event')}?`;
    if (!yes) await confirm(context, output, { lines: [name], question });
    // The account is checked before this machine gives anything up.
    await askAccount(service).catch((error: unknown) => {
      throw explainTrouble(service.url, error, 'Nothing was deleted.');
    });
    const keyOf = createKeyOf(context);
    const gone = new Set<number>();
    // A spool that was made anew may not know how many sessions of the service contain the agent session.
    const deleteAll = async () => {
      for (let of = 0; of <= generation || gone.size === of; of++) {
        if (await deleteOnce(service, keyOf(session, of))) gone.add(of);
      }
    };
    // If a hold protects the session at the service, this machine gives nothing up. Any other refusal is handled below.
    await deleteAll().catch((error: unknown) => {
      if (hasCode(error, 'held')) throw held(error);
    });
    // The session is marked as deleted before the second pass. A daemon may have sent events meanwhile; it sends no more from
    // now on.
    const note = noteRecords(context, spool, { agent, session: agentSession, unread: [] });
    const { forks } = spool.transact(() => {
      note();
      return spool.keepBack(id, 'deleted', context.now());
    });
    await deleteAll().catch((error: unknown) => {
      throw explainTrouble(service.url, error, 'Nothing more of the session will be sent.');
    });
    output.answer({ agent, session: agentSession, forks, deletedAtService: gone.size }, [
      `Deleted: ${name}`,
      ...(forks.length > 0
        ? [`Nothing more will be captured of ${formatCount(forks.length, 'fork')}: ${forks.join(', ')}`]
        : []),
      gone.size > 0
        ? 'Nothing more of it will be captured.'
        : 'The service had none of its events. Nothing more of it will be captured.',
    ]);
  });
}

/** Returns false where the service does not know the key. */
async function deleteOnce(service: Service, clientKey: string): Promise<boolean> {
  try {
    await service.client.deleteCapturedSession({ clientKey });
    return true;
  } catch (error) {
    if (hasStatus(error, 404)) return false;
    throw error;
  }
}

const held = ({ message }: ServiceError) =>
  new Failure(EXIT.failure, message, 'This machine keeps the session too, and continues to capture it.');
