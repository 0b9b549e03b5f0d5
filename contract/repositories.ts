import { type Static, Type } from 'typebox';

/** The repositories of an organization's sessions. */
export const Repositories = Type.Object({
  repositories: Type.Array(
    Type.Object({
      repository: Type.String({ description: 'its address, or its folder if no address is known' }),
      sessions: Type.Integer({ minimum: 0 }),
    }),
    { description: 'those with the most sessions first, at most 500' },
  ),
});
export type Repositories = Static<typeof Repositories>;
