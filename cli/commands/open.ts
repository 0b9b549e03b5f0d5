import { openInBrowser } from '../browser.ts';
import { defineCommand, flag, text } from '../command.ts';
import { readSettings } from '../config.ts';
import { findDashboard, sessionPage } from '../dashboard.ts';
import { EXIT, Failure } from '../failure.ts';
import { chooseSession, SESSION_NAMES, withSpool } from '../sessions/choose.ts';

export const openCommand = defineCommand({
  name: 'open',
  summary: 'open a session in the dashboard',
  description: 'Opens the page of a session in the browser, and always prints its address.',
  examples: [
    ['capture open', 'the latest session of this folder'],
    ['capture open 0199a213', 'the session with this id'],
    ['capture open --print', 'only prints its address'],
  ],
  takes: { session: text('[SESSION]', SESSION_NAMES), print: flag('--print', 'only print the address') },
  async run(context, { session, print }, output) {
    const { url } = readSettings(context);
    if (url === undefined) {
      throw new Failure(
        EXIT.signInRequired,
        'The address of the service is not known.',
        'Sign in with `capture login`.',
      );
    }
    const { agent, agentSession, verdict, serviceId } = await withSpool(context, (spool) => {
      const chosen = chooseSession(context, spool, session);
      return { ...chosen, serviceId: spool.sessions.serviceIds(chosen.id).at(-1) };
    });
    if (verdict === 'deleted') {
      throw new Failure(EXIT.usage, `${agent} ${agentSession} was deleted at the service.`, 'It has no page.');
    }
    if (serviceId === undefined) {
      const sentence = `Nothing of ${agent} ${agentSession} was sent yet, so the dashboard does not have it.`;
      throw new Failure(EXIT.temporary, sentence, 'See `capture status`.');
    }
    const address = sessionPage(await findDashboard(context, url), serviceId);
    const opened = !print && (await openInBrowser(context, address));
    output.answer({ agent, session: agentSession, serviceId, url: address, opened }, [address]);
    if (!opened && !print) output.say('No browser could be opened. Use the address above.');
  },
});
