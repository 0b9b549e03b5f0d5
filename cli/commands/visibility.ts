import { isStricter, isVisibility, strictestOf, VISIBILITIES, type Visibility } from '../../contract/session.ts';
import { locateSpool } from '../account.ts';
import { defineCommand, text } from '../command.ts';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { openPolicy, visibilityOf as wantedVisibilityOf } from '../pipeline.ts';
import { readPreferences, writeVisibility } from '../privacy/preferences.ts';
import { SESSION_NAMES } from '../sessions/choose.ts';
import { chooseKnown, chooseToDecide, type KnownSession } from '../sessions/known.ts';
import { VISIBILITY_WORDS, visibilityOf } from '../sessions/report.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import { isTemporary } from '../upload/problem.ts';
import { createRestriction, NotHiddenYet } from '../upload/restriction.ts';
import { createRetry } from '../upload/retry.ts';
import { createService } from '../upload/service.ts';

export const visibilityCommand = defineCommand({
  name: 'visibility',
  summary: 'show or set who may see sessions of this machine',
  description:
    'Shows or sets who may see new sessions of this machine, or one session with its sent events. The strictest setting of ' +
    'machine, repository and organization applies. Only the dashboard can show a session to more people again.',
  examples: [
    ['capture visibility', 'who may see new sessions'],
    ['capture visibility private', 'new sessions are yours alone'],
    ['capture visibility 0199a213', 'who sees one session'],
    ['capture visibility 0199a213 facts', 'make it stricter'],
  ],
  takes: {
    one: text('[SESSION]', `${SESSION_NAMES}; none for new sessions`),
    other: text('[VISIBILITY]', VISIBILITIES.join(', ')),
  },
  async run(context, { one, other }, output) {
    if (other !== undefined) return restrictSession(context, one ?? '', readVisibility(other), output);
    if (one !== undefined && !isVisibility(one)) return showSession(context, one, output);
    if (one !== undefined) writeVisibility(context, one);
    const visibility = readPreferences(context).visibility ?? 'team';
    output.answer({ visibility }, [describeNew(visibility)]);
  },
});

/** Only the service knows the organization's setting. */
function describeNew(visibility: Visibility): string {
  if (visibility === 'team')
    return 'New sessions of this machine: your organization and their repository decide who sees them.';
  const addition =
    visibility === 'private' ? '' : '. Fewer people see them where your organization or their repository is stricter';
  return `New sessions of this machine: ${visibility}, so ${VISIBILITY_WORDS[visibility]}${addition}.`;
}

function readVisibility(given: string): Visibility {
  if (isVisibility(given)) return given;
  throw new Failure(EXIT.usage, `${given} is not team, facts or private.`);
}

/** Shows who sees a session, according to the service's last answer. */
function showSession(context: Context, name: string, output: Output): void {
  const spool = openSpool(locateSpool(context) ?? ':memory:', stateFolder(context));
  try {
    const { agent, session, id } = findSession(context, spool, name);
    const said = spool.decisions.find(agent, session)?.visibility;
    const now = id === undefined ? undefined : visibilityOf(spool, id);
    const wish = said && (now === undefined || isStricter(said, now)) ? ` You want it to be ${said}.` : '';
    output.answer({ agent, session, visibility: now ?? null, wanted: said ?? null }, [
      `${agent} ${session} ${now ? `is ${now} at the service: ${VISIBILITY_WORDS[now]}` : 'was not sent yet'}.${wish}`,
    ]);
  } finally {
    spool.close();
  }
}

function findSession(context: Context, spool: Spool, name: string): KnownSession {
  try {
    return chooseKnown(context, spool, name);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.exitCode, error.message, `${error.hint} For new sessions, say team, facts or private.`);
  }
}

async function restrictSession(context: Context, name: string, asked: Visibility, output: Output): Promise<void> {
  const path = locateSpool(context);
  const spool = openSpool(path ?? ':memory:', stateFolder(context));
  try {
    const { agent, session, id } = chooseToDecide(context, spool, name);
    const now = id === undefined ? [] : spool.sessions.openedAs(id).map((one) => one.visibility);
    if (isStricter(strictestOf(...now), asked)) {
      const sentence = `${agent} ${session} is ${strictestOf(...now)} at the service.`;
      throw new Failure(
        EXIT.usage,
        sentence,
        'Only its page in the dashboard shows it to more people: `capture open`.',
      );
    }
    spool.transact(() => spool.decisions.setVisibility(agent, session, asked, context.now()));
    // While nobody is signed in, this machine does not know which events were sent.
    const result = path === undefined ? 'later' : id === undefined ? 'done' : await restrictNow(context, spool, id);
    output.answer({ agent, session, visibility: asked, isDone: result === 'done' }, [
      `${agent} ${session} ${RESULTS[result](asked)}`,
    ]);
  } finally {
    spool.close();
  }
}

const RESULTS = {
  done: (asked: Visibility) => `is ${asked} from now on: ${VISIBILITY_WORDS[asked]}.`,
  partly: (asked: Visibility) =>
    `is ${asked} from now on, except for an earlier part: the service says that it is gone, or that somebody else captured it. ` +
    'If the dashboard still shows it, ask that person or an admin.',
  later: (asked: Visibility) =>
    `becomes ${asked} when capture next reaches the service, for which it must be signed in. Until then, nothing more of it is sent.`,
} as const;

const MAX_FORKS = 100;
/** How long the command waits for the service. After that, the daemon hides the session later. */
const PATIENCE_MS = 10_000;

/** `later`: the service cannot be asked now. */
async function restrictNow(context: Context, spool: Spool, id: number): Promise<keyof typeof RESULTS> {
  const { url, secret } = readSettings(context);
  if (url === undefined || secret === undefined) return 'later';
  const { fetch, random, stop } = context;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(PATIENCE_MS)]);
  const policy = openPolicy(context, spool);
  const { restrict } = createRestriction({
    spool,
    service: createService({ url, secret, fetch, timeoutMs: PATIENCE_MS }),
    retry: createRetry({ random, signal }),
    visibilityOf: (session, about) => wantedVisibilityOf(spool, policy, session, about),
  });
  try {
    const answer = await restrict(id, { isAsked: true });
    // The session's forks are hidden with it. A failure there does not change the answer, because the daemon tries again.
    for (const fork of spool.sessions.overexposed(context.now(), MAX_FORKS)) await restrict(fork, { isAsked: true });
    if (answer instanceof NotHiddenYet) return 'later';
    if (answer instanceof Failure) throw answer;
    return answer === 'again' ? 'later' : answer;
  } catch (error) {
    if (stop.aborted || !(signal.aborted || isTemporary(error))) throw error;
    return 'later';
  }
}
