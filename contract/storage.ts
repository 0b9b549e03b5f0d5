import { type Static, Type } from 'typebox';

const Bytes = (description: string) => Type.Integer({ minimum: 0, description });

/** How much an organization stores, how much it may store, and how fast that grows. */
export const Storage = Type.Object({
  bytes: Bytes('of events as they were sent, without compression'),
  bytesToday: Bytes('sent today (UTC), deleted ones included'),
  bytesAWeek: Bytes('sent in a week, on the average of the last four weeks; deleted ones included'),
  sessions: Type.Integer({ minimum: 0 }),
  quotaBytes: Type.Optional(Bytes('the most that it may have; absent: any amount')),
  quotaBytesADay: Type.Optional(Bytes('the most that it may send in a day; absent: any amount')),
  quotaSessions: Type.Optional(Type.Integer({ minimum: 0, description: 'absent: any number' })),
  fullInDays: Type.Optional(
    Type.Integer({ minimum: 0, description: 'until `quotaBytes` at this pace; absent where it has no end' }),
  ),
});
export type Storage = Static<typeof Storage>;
