import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Timestamp, VisibleText } from './common.ts';
import { ORDERS } from './names.ts';
import { SearchQuery } from './review.ts';

export const MAX_VIEW_NAME = 60;

const { q, secretEnvironment, direction } = SearchQuery.properties;

/** The sessions that a view lists, in the parameters of a search. */
export const ViewSearch = Body({ q, secretEnvironment, order: Type.Optional(OneOf(ORDERS)), direction });
export type ViewSearch = Static<typeof ViewSearch>;

/** A named list of sessions. */
export const View = Type.Object({
  viewId: Id('viw'),
  name: Type.String(),
  search: ViewSearch,
  isShared: Type.Boolean({ description: 'whether all members see it; otherwise only the person who saved it' }),
  createdBy: Id('usr'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type View = Static<typeof View>;

export const SaveViewBody = Body({
  name: VisibleText(MAX_VIEW_NAME),
  search: ViewSearch,
  isShared: Type.Optional(Type.Boolean({ description: 'default false' })),
});
export type SaveViewBody = Static<typeof SaveViewBody>;

/** A field that is left out stays unchanged. `search` is replaced as a whole. */
export const ChangeViewBody = Type.Partial(SaveViewBody);
export type ChangeViewBody = Static<typeof ChangeViewBody>;
