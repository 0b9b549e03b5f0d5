import type { RecordPlace } from '../agent.ts';
import { type Draft, draft } from '../compose.ts';
import { context, facts, notice, quiet, type Readers } from '../reader.ts';
import { peek, type Remainder } from '../remainder.ts';
import { takeInteger, takeText } from '../typed.ts';
import { readInjected } from './message.ts';

/** The kinds of entries besides messages. */
export const ENTRY_KINDS: Readers = [
  ['session', readHeader],
  ['session_info', facts({ title: ['name'] }, 'person')],
  ['model_change', facts({ model: ['modelId'] })],
  ['thinking_level_change', facts({})],
  ['compaction', readCompaction],
  ['branch_summary', context('branch_summary', ['summary'])],
  ['custom_message', (remainder) => readInjected(remainder, [])],
  ['label', notice('label', ['label'])],
  // States of extensions, and where in the tree one is.
  ['custom', quiet('custom')],
  ['leaf', quiet('leaf')],
];

/** Of which session it is a fork is mostly said as the path of that one's file: that is left in `rest`. */
function readHeader(remainder: Remainder, { origin }: RecordPlace): Draft[] {
  const isId = peek(remainder, 'parentSession') === origin.forkedFrom;
  const forkedFrom = isId ? takeText(remainder, 'parentSession') : undefined;
  return [draft('session.meta', { cwd: takeText(remainder, 'cwd'), forkedFrom })];
}

function readCompaction(remainder: Remainder): Draft[] {
  const summary = takeText(remainder, 'summary');
  return [draft('compaction', { summary, tokensBefore: takeInteger(remainder, 'tokensBefore') })];
}
