import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { facts, type Reader, type Readers } from '../reader.ts';
import type { Path, Remainder } from '../remainder.ts';
import { peekText, takeInteger, takeText } from '../typed.ts';
import { readTotals } from './usage.ts';

const placed = (...at: Path): Reader =>
  facts({
    cwd: [...at, 'cwd'],
    repository: [...at, 'repository'],
    branch: [...at, 'branch'],
    commit: [...at, 'headCommit'],
    model: ['data', 'selectedModel'],
  });

export const SESSION_KINDS: Readers = [
  ['session.start', placed('data', 'context')],
  ['session.resume', placed('data', 'context')],
  ['session.context_changed', placed('data')],
  ['session.title_changed', facts({ title: ['data', 'title'] }, 'agent')],
  ['session.model_change', facts({ model: ['data', 'newModel'] })],
  ['session.auto_mode_resolved', facts({ model: ['data', 'chosenModel'] })],
  ['session.mode_changed', facts({})],
  ['session.permissions_changed', facts({})],
  ['session.remote_steerable_changed', facts({})],
  ['session.compaction_complete', readCompaction],
  ['session.error', readError],
  ['session.shutdown', readShutdown],
  ['abort', readAbort],
];

/** One that failed replaced nothing. */
function readCompaction(remainder: Remainder): Draft[] {
  const error = takeText(remainder, 'data', 'error') ?? takeText(remainder, 'data', 'error', 'message');
  if (error !== undefined) return [draft('error', { text: error, kind: 'compaction' })];
  return [
    draft('compaction', {
      summary: takeText(remainder, 'data', 'summaryContent'),
      tokensBefore: takeInteger(remainder, 'data', 'preCompactionTokens'),
    }),
  ];
}

function readError(remainder: Remainder): Draft[] {
  const kind = peekText(remainder, 'data', 'errorType') ?? 'session.error';
  return [draft('error', { text: takeText(remainder, 'data', 'message'), kind })];
}

function readShutdown(remainder: Remainder, place: RecordPlace): Draft[] {
  const reason = takeText(remainder, 'data', 'errorReason');
  const totals = readTotals(remainder, place.origin.session);
  if (reason !== undefined) return [draft('error', { text: reason, kind: 'session.shutdown' }), ...totals];
  return [draft('notice', { kind: 'session.shutdown' }), ...totals];
}

function readAbort(remainder: Remainder): Draft[] {
  return [draft('turn.finished', { reason: takeText(remainder, 'data', 'reason') })];
}
