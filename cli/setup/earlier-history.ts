import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { isChange, isSame } from '../hooks/change.ts';
import { importAll } from '../import/capture.ts';
import type { Output } from '../output.ts';
import { findTranscripts, type Trouble } from '../read/discover.ts';
import { ownPlaces } from '../read/places.ts';
import type { PlannedAgent } from './preview.ts';

const PATIENCE_MS = 10_000;

/**
 * Captures what agents have written so far that are read by their hooks from now on: of a conversation that goes on, their
 * transcript counts no more. Never throws: a service that does not answer keeps nobody from installing.
 */
export async function captureHistory(
  context: Context,
  { planned, isReachable }: { planned: readonly PlannedAgent[]; isReachable: boolean },
  output: Output,
): Promise<void> {
  const hooked = planned.filter(({ files }) => files.some((file) => isChange(file) && !isSame(file)));
  const agents = context.agents.filter(({ id, hookedAs }) => hookedAs && hooked.some(({ row }) => row.id === id));
  const places = ownPlaces({ ...context, agents });
  const onTrouble = ({ path, reason }: Trouble) => output.warn(`${path} cannot be read: ${reason}`);
  if (findTranscripts(places, onTrouble).length === 0) return;
  const names = agents.map(({ displayName }) => displayName).join(' and ');
  if (!isReachable) return warnOf(names, 'The service does not answer.', output);
  output.say(`Capturing what ${names} has written so far, which its hooks cannot tell any more …`);
  try {
    // Its answer is not that of `capture init`.
    await importAll(context, { places, onTrouble, patienceMs: PATIENCE_MS }, { ...output, answer() {} });
  } catch (error) {
    if (context.stop.aborted) throw error;
    warnOf(names, describe(error), output);
  }
}

const warnOf = (names: string, reason: string, output: Output): void =>
  output.warn(
    `What ${names} has written so far was not captured: ${reason} Of conversations that go on, what was said until now ` +
      'is missing, unless `capture import` captures it before they do.',
  );
