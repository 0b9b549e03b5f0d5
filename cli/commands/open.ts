import { defineCommand, flag, text } from '../command.ts';
import { readSettings } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { findDashboard, sessionPage } from '../inspect/service.ts';
import type { Output } from '../output.ts';
import { openInBrowser } from '../sessions/browser.ts';
import { chooseSessions, latestIn, requireSpool } from '../sessions/choose.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';

export interface OpenOptions {
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

export async function runOpen(context: Context, { session, print }: OpenOptions, output: Output): Promise<void> {
  const { url } = readSettings(context);
  if (url === undefined) {
    throw new Failure(EXIT.signInRequired, 'It is not known where the service is.', 'Sign in with `capture login`.');
  }
  const { row, serviceId } = findSession(context, session);
  const address = sessionPage(await findDashboard(context, url), serviceId);
  const opened = !print && (await openInBrowser(context, address));
  output.answer({ agent: row.agent, session: row.agentSession, serviceId, url: address, opened }, [address]);
  if (!opened && !print) output.say('No browser could be opened here: use the address.');
}

function findSession(context: Context, session: string | undefined): { row: SessionRow; serviceId: string } {
  const spool = requireSpool(context);
  try {
    const row = session === undefined ? latestIn(spool, context.folder) : choose(context, spool, session);
    if (row === undefined) {
      throw new Failure(
        EXIT.usage,
        'No session of this folder was captured.',
        'Say which one: `capture sessions` lists them.',
      );
    }
    const serviceId = spool.sessions.serviceIds(row.id).at(-1);
    if (serviceId === undefined) throw notSent(row);
    return { row, serviceId };
  } finally {
    spool.close();
  }
}

function choose(context: Context, spool: Spool, session: string): SessionRow | undefined {
  return chooseSessions(context, spool, { sessions: [session] }).at(-1);
}

const notSent = ({ agent, agentSession }: SessionRow) =>
  new Failure(
    EXIT.temporary,
    `Nothing of ${agent} ${agentSession} was sent yet, so the dashboard does not have it.`,
    'See `capture status`.',
  );
