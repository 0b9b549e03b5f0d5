import { existsSync } from 'node:fs';
import { describe } from '../../failure.ts';
import { formatAge, formatCount } from '../../output.ts';
import { ownPlaces } from '../../read/places.ts';
import type { Facts } from '../facts.ts';
import { type Finding, failed, ok, skipped, warning } from '../finding.ts';

/** The daemon has read what was written, but for what has just been written. */
const LATE_MS = 10 * 60_000;

export function checkReading({ transcripts, daemon, context }: Facts): Finding {
  const files = transcripts.reduce((sum, { found }) => sum + found.length, 0);
  const unread = transcripts.flatMap((agent) => agent.unread.map(({ found }) => found.modifiedAt));
  if (files === 0) return skipped('No agent has written a transcript yet.');
  if (unread.length === 0) return ok(`Of ${formatCount(files, 'transcript')} nothing is left to read.`);
  const oldest = context.now() - Math.min(...unread);
  const sentence = `${formatCount(unread.length, 'transcript')} of ${files.toLocaleString('en-US')} ${unread.length === 1 ? 'has' : 'have'} something that was not captured yet, the oldest for ${formatAge(oldest)}.`;
  if (daemon.running && oldest < LATE_MS) return ok(sentence);
  return warning(sentence, 'capture import');
}

export function checkReadable({ transcripts }: Facts): Finding {
  const troubles = transcripts.flatMap((one) => one.troubles);
  if (troubles.length === 0) return ok('Every transcript can be read.');
  const agents = transcripts.filter((one) => one.troubles.length > 0).map(({ agent }) => agent.displayName);
  const sentence = `${formatCount(troubles.length, 'file or folder', 'files and folders')} of ${agents.join(', ')} cannot be read, so what is in there is not captured.`;
  return {
    ...failed(sentence, 'chmod -R u+rX FOLDER   # or sudo chown -R "$USER" FOLDER, for each that is named'),
    private: troubles.map(({ path, reason }) => `${path}: ${reason}`),
  };
}

export function checkWatching({ context, watchFolder }: Facts): Finding {
  const roots = new Set(ownPlaces(context).map(({ root }) => root));
  for (const root of [...roots].filter(existsSync)) {
    try {
      watchFolder(root);
    } catch (error) {
      const sentence = `The system gives no notice of changes in ${root}, so they are found some seconds later: ${describe(error)}.`;
      return warning(
        sentence,
        'echo fs.inotify.max_user_watches=524288 | sudo tee -a /etc/sysctl.conf && sudo sysctl -p',
      );
    }
  }
  return ok("The system gives notice of changes in the agents' folders.");
}

export function checkLeftOut({ transcripts, preferencesTrouble }: Facts): Finding {
  if (preferencesTrouble !== undefined) return skipped('What is left out cannot be told before that is mended.');
  const leftOut = transcripts.flatMap((one) => one.leftOut);
  if (leftOut.length === 0) return ok('Nothing is left out.');
  const reasons = [...Map.groupBy(leftOut, ({ reason }) => reason)];
  const broken = leftOut.filter(({ reason }) => reason.includes(' is not {"capture"'));
  const lines = reasons.map(([reason, files]) => `${formatCount(files.length, 'transcript')}: ${reason}`);
  if (broken.length > 0) {
    const sentence = `${formatCount(broken.length, 'transcript')} left out by a .session-capture.json that cannot be understood.`;
    return { ...warning(sentence, 'Write {"capture": true} or {"capture": false} into it.'), private: lines };
  }
  return { ...ok(`${formatCount(leftOut.length, 'transcript')} left out, as was asked for.`), private: lines };
}

export function checkPreferences({ preferencesTrouble }: Facts): Finding {
  if (preferencesTrouble === undefined) return ok('The preferences can be read.');
  return failed(
    `${preferencesTrouble.replace(/\.$/, '')}. Nothing is captured until then.`,
    'Correct the file: see docs/privacy.md',
  );
}
