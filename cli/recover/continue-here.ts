import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatCount } from '../../contract/count.ts';
import { shellWord } from '../../contract/quote.ts';
import { readKey } from '../../redact/key.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Output } from '../output.ts';
import { tilde } from '../paths.ts';
import { openPipeline } from '../pipeline.ts';
import { createRecordHash } from '../read/identity.ts';
import { signInToRead } from '../setup/device-sign-in.ts';
import { continueSession } from './continue.ts';
import { createSessionReader } from './service-events.ts';

/** Continues a session of the service on this machine. */
export async function continueHere(context: Context, name: string, given: string | undefined, output: Output) {
  const sessionId = /ses_\w+/.exec(name)?.[0];
  if (sessionId === undefined) {
    throw new Failure(EXIT.usage, `${name} is no session of the service.`, 'Its page shows the line to run: ses_…');
  }
  const folder = resolve(context.folder, given ?? '.');
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Failure(EXIT.usage, `${folder} is no folder.`, 'Name the folder in which the agent continues.');
  }
  const { settings, spool } = await openPipeline(context);
  try {
    const read = createSessionReader(context, settings.url, await signInToRead(context, settings.url));
    const events = await read(sessionId);
    if (events === undefined) {
      throw new Failure(
        EXIT.failure,
        `The service has no session ${sessionId}, or does not show you what was said in it.`,
        'Ask its person, or look at its page.',
      );
    }
    const hashRecord = createRecordHash(readKey(stateFolder(context)));
    const continued = continueSession({ context, spool, hashRecord, events, folder });
    const command = `cd ${shellWord(folder)} && ${continued.command.map(shellWord).join(' ')}`;
    output.answer({ ...continued, folder, command }, [
      `${formatCount(continued.records, 'record')} in ${tilde(continued.file, context.home)}`,
      ['green', 'Continue with', `: ${command}`],
    ]);
  } finally {
    spool.close();
  }
}
