import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Timestamp } from './common.ts';

/** A shorter text would occur in places that nobody meant. */
export const MIN_MASKED = 4;
export const MAX_MASKED = 20_000;

export const MaskBody = Body({
  text: Type.String({
    minLength: MIN_MASKED,
    maxLength: MAX_MASKED,
    pattern: '^[^\\u0000]*$',
    description: 'the exact text as a reader sees it; escaped forms are found too',
  }),
  dryRun: Type.Optional(Type.Boolean({ description: 'true: only count, and change nothing; default false' })),
});
export type MaskBody = Static<typeof MaskBody>;

export const MASK_OUTCOMES = ['done', 'held', 'cancelled', 'failed'] as const;
export type MaskOutcome = (typeof MASK_OUTCOMES)[number];
export const RUN_OUTCOMES = ['done', 'stopped', 'cancelled', 'failed'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

const Counts = {
  events: Type.Integer({ minimum: 0, description: 'events that contained it' }),
  places: Type.Integer({ minimum: 0, description: 'occurrences in these events' }),
  fields: Type.Integer({
    minimum: 0,
    description: 'occurrences in title, folder, repository and branch of the session',
  }),
  mark: Type.String({ description: 'the mark that replaced it', examples: ['[REDACTED:manual:1f0c]'] }),
};

/** A text that was masked in a session. The service does not keep the text itself. */
export const MaskReceipt = Type.Object({
  maskId: Id('msk'),
  by: Type.String({ description: 'opaque id, `usr_…`; `service`: a scan by the rules of redaction' }),
  requestedAt: Timestamp,
  finishedAt: Type.Optional({ ...Timestamp, description: 'absent while it runs' }),
  outcome: Type.Optional(
    OneOf(
      MASK_OUTCOMES,
      '`held`: a hold was placed in the meantime; `cancelled`: an operator cancelled it; `failed`: all attempts failed, and the log of the service says why. In these cases the rest was not masked. Absent while it runs',
    ),
  ),
  ...Counts,
});
export type MaskReceipt = Static<typeof MaskReceipt>;

/**
 * A text that is masked, or counted, in all sessions that the requester may read. The service does not keep the text itself.
 */
export const MaskRun = Type.Object({
  runId: Id('mrn'),
  by: Id('usr'),
  requestedAt: Timestamp,
  dryRun: Type.Boolean({ description: 'it only counts' }),
  finishedAt: Type.Optional({ ...Timestamp, description: 'absent while it runs' }),
  outcome: Type.Optional(
    OneOf(
      RUN_OUTCOMES,
      '`stopped`: the requester is no longer an owner or admin; `cancelled`: the requester cancelled it; `failed`: all attempts failed, and the log of the service says why. In these cases the rest was not masked. Absent while it runs',
    ),
  ),
  sessions: Type.Integer({ minimum: 0, description: 'sessions that were read so far' }),
  found: Type.Integer({
    minimum: 0,
    description: 'sessions among them that contained the text; each has its own receipt',
  }),
  held: Type.Integer({
    minimum: 0,
    description: 'sessions on hold: they were neither read nor changed',
  }),
  damaged: Type.Integer({
    minimum: 0,
    description: 'sessions with events that are damaged in the store: they were not changed',
  }),
  events: Type.Integer({ minimum: 0, description: 'events that contained it' }),
  places: Type.Integer({ minimum: 0, description: 'occurrences in these events' }),
  fields: Type.Integer({ minimum: 0, description: 'occurrences in titles, folders, repositories and branches' }),
});
export type MaskRun = Static<typeof MaskRun>;

/** The effect of masking a text, or the effect that it would have. */
export const Masked = Type.Object({
  ...Counts,
  incomplete: Type.Optional(
    Type.Literal(true, { description: 'a payload has too many short parts to be searched completely; with `dryRun`' }),
  ),
  left: Type.Optional(
    Type.Array(Type.String(), {
      description: 'fields that also contain it and are left, because figures and models are not masked; with `dryRun`',
      examples: [['outputTokens']],
    }),
  ),
  receipt: Type.Optional({ ...MaskReceipt, description: 'absent if nothing was changed' }),
});
export type Masked = Static<typeof Masked>;
