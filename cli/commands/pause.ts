import { formatCount } from '../../contract/count.ts';
import { locateSpool } from '../account.ts';
import { defineCommand, type Parameter, text } from '../command.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { beginPause, continuesAt, endPauses, followClock, isActive, type Pause } from '../decide/pauses.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatMoment } from '../output.ts';
import { continueHere } from '../recover/continue-here.ts';
import { damageOf } from '../spool/damage.ts';
import { openSpool, type Spool } from '../spool/open.ts';

const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000 };
/** For a longer time, use `capture stop` or a pause without an end. */
const MAX_DAYS = 365;

const duration: Parameter<number | undefined> = {
  flags: '--for <time>',
  about: 'resume by itself after this time: 30m, 2h or 1d',
  parse(given) {
    const [, count = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(given) ?? [];
    const ms = Number(count) * (UNITS[unit] ?? 0);
    if (ms > 0 && ms <= MAX_DAYS * 86_400_000) return ms;
    throw new Failure(
      EXIT.usage,
      `${given} is not a time to pause for.`,
      'Write minutes, hours or days: 30m, 2h or 1d.',
    );
  },
  absent: undefined,
};

export const pauseCommand = defineCommand({
  name: 'pause',
  summary: 'capture nothing that agents do from now on',
  description:
    'Captures nothing that agents write from now until `capture resume` or the given time. It is not captured later ' +
    'either. Sessions that continue after the pause are captured from there. Earlier events are still sent. The pause ' +
    'survives a restart of the machine. After `capture stop`, in contrast, sessions are captured later.',
  examples: [
    ['capture pause', 'until `capture resume`'],
    ['capture pause --for 2h', 'for two hours'],
  ],
  takes: { forMs: duration },
  async run(context, { forMs }, output) {
    const { pauses, waiting } = startPause(context, forMs);
    const until = pauses.at(-1)?.until;
    output.answer({ paused: true, until: until === undefined ? null : new Date(until).toISOString() }, [
      `${describePause(until)} What agents write meanwhile is not captured later either.`,
      ...(waiting > 0 ? [`${formatCount(waiting, 'event')} from before the pause will still be sent.`] : []),
    ]);
  },
});

function startPause(context: Context, forMs: number | undefined): { pauses: Pause[]; waiting: number } {
  try {
    return withSpool(context, (spool) => ({
      pauses: change(spool, context.now(), (known) => beginPause(known, context.now(), forMs)),
      waiting: spool.batches.depth().events,
    }));
  } catch (error) {
    if (damageOf(error) !== 'full') throw error;
    const sentence = 'The disk is full, so the pause could not be stored: capture is not paused.';
    throw new Failure(
      EXIT.temporary,
      sentence,
      'Free some space and try again. `capture status` says on which disk.',
      error,
    );
  }
}

export const resumeCommand = defineCommand({
  name: 'resume',
  summary: 'end a pause, or continue a session of another machine here',
  description:
    'Without a session: captures what agents write from now on, after `capture pause`. What they wrote during the pause stays on ' +
    'this machine. With a session of the service: writes a copy of it as a new session of this machine, and prints the ' +
    "agent's command that continues it. It may be of another machine, or of a colleague as far as you may see it. You confirm in " +
    'the dashboard that this machine may read your sessions for 15 minutes.',
  examples: [
    ['capture resume', 'capture again'],
    ['capture resume ses_0199a213', 'continues this session, in this folder'],
    ['capture resume ses_0199a213 --folder ~/code/shop', 'in another folder'],
  ],
  takes: {
    session: text('[SESSION]', "the service's id of a session, ses_…"),
    folder: text('--folder <folder>', 'where the agent continues the session (default: this folder)'),
  },
  async run(context, { session, folder }, output) {
    if (session !== undefined) return continueHere(context, session, folder, output);
    const now = context.now();
    const ended = withSpool(context, (spool) => {
      const isPaused = spool.decisions.pauses().some((pause) => isActive(pause, now));
      return isPaused ? change(spool, now, (known) => endPauses(known, now)) : undefined;
    });
    output.answer({ paused: false, wasPaused: ended !== undefined }, [
      ended === undefined ? 'Capture is not paused.' : describeEnd(ended, now),
    ]);
  },
});

function describeEnd(pauses: readonly Pause[], now: number): string {
  const from = continuesAt(pauses, now);
  const begins =
    from === undefined
      ? 'Captured again from now on.'
      : `The clock was set back during the pause, so what agents write is captured again from ${formatMoment(from)} on.`;
  return `${begins} What agents wrote during the pause stays on this machine.`;
}

/** Tells people how long capture is paused. */
export const describePause = (until: number | undefined): string =>
  until === undefined
    ? 'Paused until `capture resume`.'
    : `Paused until ${formatMoment(until)}, or \`capture resume\`.`;

/** A pause applies to every account, so it also works if nobody is signed in or nothing was captured yet. */
function withSpool<Result>(context: Context, use: (spool: Spool) => Result): Result {
  const spool = openSpool(locateSpool(context) ?? ':memory:', stateFolder(context));
  try {
    return use(spool);
  } finally {
    spool.close();
  }
}

function change(spool: Spool, now: number, to: (pauses: readonly Pause[]) => Pause[]): Pause[] {
  return spool.transact(() => {
    const { decisions } = spool;
    const known = decisions.pauses();
    const isPaused = known.some((pause) => isActive(pause, now));
    const pauses = to(isPaused ? followClock(known, now, decisions.clock()) : known);
    if (!isPaused || now > decisions.clock()) spool.noteClock(now);
    spool.setPauses(pauses);
    return pauses;
  });
}
