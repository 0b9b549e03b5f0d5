import type { Finding } from './findings.ts';
import type { Held } from './held.ts';
import type { KnownFile, Verified, Verifier } from './session.ts';

/** Tells what the service holds beyond what the transcripts say: twice the same, history, or something nobody wrote. */
export function explainSurplus(verifier: Verifier, verified: Verified): void {
  const { held, findings } = verifier;
  for (const row of held.left()) {
    const file = verified.files.find(({ digest }) => digest === row.file);
    // A file that was moved may have become any of those there are.
    const files = file || row.file === undefined ? [file] : verified.files;
    const twin = row.digest === undefined ? undefined : held.findTaken(row);
    if (twin !== undefined && twin.digest === row.digest) tell(verifier, verified, row, file, 'doubled');
    else if (files.some((one) => one && one.transcript === undefined)) findings.count('unverifiable');
    else if (files.some((one) => one?.transcript?.isRewritten) || isOldRevision(verifier, row))
      findings.count('history');
    else tell(verifier, verified, row, file, twin ? 'doubled' : 'surplus');
  }
}

function isOldRevision({ held }: Verifier, { record, revision }: Held): boolean {
  return record !== undefined && revision !== undefined && revision < (held.newestRevision(record) ?? revision);
}

function tell(
  { findings }: Verifier,
  { session, serviceIds }: Verified,
  { place, sequence, eventType, position, part, of }: Held,
  file: KnownFile | undefined,
  problem: Finding['problem'],
): void {
  const serviceSession = serviceIds[place];
  findings.add({
    problem,
    agent: session.agent,
    session: session.agentSession,
    ...(serviceSession !== undefined && { serviceSession }),
    sequence,
    ...(file && { file: file.path }),
    ...(position !== undefined && { position }),
    eventType,
    ...(part !== undefined && { part: `${part} of ${of}` }),
  });
}
