import { defineCommand, flag, text } from '../command.ts';
import { readSettings } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { findDashboard, sessionPage } from '../inspect/service.ts';
import type { Output } from '../output.ts';
import { openInBrowser } from '../sessions/browser.ts';
import { chooseSession, withSpool } from '../sessions/choose.ts';
import type { SessionRow } from '../spool/sessions.ts';

interface OpenOptions {
  session: string | undefined;
  print: boolean;
}

export const openCommand = defineCommand({
  name: 'open',
  summary: 'open a session in the dashboard',
  description: 'Opens the page of a session in the browser. The address is always printed, browser or not.',
  examples: [
    ['capture open', 'the latest session of this folder'],
    ['capture open 0199a213', 'one by its id'],
    ['capture open --print', 'its address only'],
  ],
  arguments: { session: text('[SESSION]', "the agent's id of a session or its beginning, ses_…, or a transcript") },
  options: { print: flag('--print', 'print the address, and open nothing') },
  run: runOpen,
});

async function runOpen(context: Context, { session, print }: OpenOptions, output: Output): Promise<void> {
  const { url } = readSettings(context);
  if (url === undefined) {
    throw new Failure(EXIT.signInRequired, 'It is not known where the service is.', 'Sign in with `capture login`.');
  }
  const { row, serviceId } = await withSpool(context, (spool) => {
    const chosen = chooseSession(context, spool, session);
    return { row: chosen, serviceId: spool.sessions.serviceIds(chosen.id).at(-1) };
  });
  if (serviceId === undefined) throw notSent(row);
  const address = sessionPage(await findDashboard(context, url), serviceId);
  const opened = !print && (await openInBrowser(context, address));
  output.answer({ agent: row.agent, session: row.agentSession, serviceId, url: address, opened }, [address]);
  if (!opened && !print) output.say('No browser could be opened here: use the address.');
}

const notSent = ({ agent, agentSession }: SessionRow) =>
  new Failure(
    EXIT.temporary,
    `Nothing of ${agent} ${agentSession} was sent yet, so the dashboard does not have it.`,
    'See `capture status`.',
  );
