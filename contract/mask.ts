import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Timestamp } from './common.ts';

/** A shorter text would occur in places that nobody meant. */
export const SHORTEST_MASKED = 4;
export const LONGEST_MASKED = 20_000;

export const MaskBody = Body({
  text: Type.String({
    minLength: SHORTEST_MASKED,
    maxLength: LONGEST_MASKED,
    pattern: '^[^\\u0000]*$',
    description: 'exactly as it is read; it is found however it is escaped',
  }),
  dryRun: Type.Optional(Type.Boolean({ description: 'true: only count, and change nothing; default false' })),
});
export type MaskBody = Static<typeof MaskBody>;

export const MASK_OUTCOMES = ['done', 'held', 'cancelled', 'failed'] as const;
export type MaskOutcome = (typeof MASK_OUTCOMES)[number];
export const RUN_OUTCOMES = ['done', 'stopped', 'cancelled', 'failed'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

const Counts = {
  events: Type.Integer({ minimum: 0, description: 'in which it stood' }),
  places: Type.Integer({ minimum: 0, description: 'in these events' }),
  fields: Type.Integer({ minimum: 0, description: 'places in title, folder, repository and branch of the session' }),
  mark: Type.String({ description: 'what stands in its place', examples: ['[REDACTED:manual:1f0c]'] }),
};

/** A text that was masked in a session. The service does not keep the text itself. */
export const MaskReceipt = Type.Object({
  maskId: Id('msk'),
  by: Type.String({ description: 'opaque id, `usr_…`; `service`: a sweep by the rules of redaction' }),
  requestedAt: Timestamp,
  finishedAt: Type.Optional({ ...Timestamp, description: 'absent while it runs' }),
  outcome: Type.Optional(
    OneOf(
      MASK_OUTCOMES,
      '`held`: a hold was placed meanwhile; `cancelled`: an operator withdrew it; `failed`: it was tried for a day, and the log of the service says why. The rest was left then. Absent while it runs',
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
      '`stopped`: who asked is no owner or admin any more; `cancelled`: they have cancelled it; `failed`: it was tried for a day, and the log of the service says why. The rest was left then. Absent while it runs',
    ),
  ),
  sessions: Type.Integer({ minimum: 0, description: 'sessions that were read so far' }),
  found: Type.Integer({
    minimum: 0,
    description: 'sessions among them that contained the text; each has its own receipt',
  }),
  held: Type.Integer({
    minimum: 0,
    description: 'sessions that a hold keeps: they were left as they are, and not read',
  }),
  events: Type.Integer({ minimum: 0, description: 'in which it stood' }),
  places: Type.Integer({ minimum: 0, description: 'in these events' }),
  fields: Type.Integer({ minimum: 0, description: 'places in titles, folders, repositories and branches' }),
});
export type MaskRun = Static<typeof MaskRun>;

/** The effect of masking a text, or the effect that it would have. */
export const Masked = Type.Object({
  ...Counts,
  receipt: Type.Optional({ ...MaskReceipt, description: 'absent where nothing was changed' }),
});
export type Masked = Static<typeof Masked>;
