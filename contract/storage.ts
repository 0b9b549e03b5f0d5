import { type Static, Type } from 'typebox';

const Bytes = (description: string) => Type.Integer({ minimum: 0, description });

/** How much an organization stores, how much it may store, and how fast that grows. */
export const Storage = Type.Object({
  bytes: Bytes('of events in their sent form, without compression'),
  bytesToday: Bytes('sent today (UTC), including deleted ones'),
  bytesAWeek: Bytes('sent in a week, on average over the last four weeks, including deleted ones'),
  quotaBytes: Type.Optional(Bytes('the most that it may store; absent: any amount')),
  quotaBytesADay: Type.Optional(Bytes('the most that it may send in a day; absent: any amount')),
  fullInDays: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'days until `quotaBytes` is reached at this pace; absent if it is never reached',
    }),
  ),
});
export type Storage = Static<typeof Storage>;
