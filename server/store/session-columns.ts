import type { SessionRow } from './schema.ts';

type Kind =
  /** A text of its client that is content, such as a title. It is hidden, removed and shared like the events, and masks change it. */
  | 'content'
  /** A text of its client that describes where the session ran. It is a fact, and masks change it. */
  | 'description'
  /** An id, a time, a count or a state. */
  | 'state';

/** All columns of a session. A new column gets its kind here; whatever hides, removes, shares or masks content follows. */
const COLUMNS = {
  session_id: 'state',
  organization_id: 'state',
  environment_id: 'state',
  installation_id: 'state',
  agent_id: 'state',
  secret_id: 'state',
  plane: 'state',
  status: 'state',
  title: 'content',
  repo_root: 'description',
  repository: 'description',
  git_branch: 'description',
  started_at: 'state',
  ended_at: 'state',
  event_count: 'state',
  client_key: 'state',
  continues_key: 'state',
  forked_from_key: 'state',
  client_ended_at: 'state',
  deleted_at: 'state',
  user_id: 'state',
  visibility: 'state',
  content_expired_at: 'state',
  masks: 'state',
  created_at: 'state',
  updated_at: 'state',
} as const satisfies Record<keyof SessionRow, Kind>;

type Column<Wanted extends Kind> = {
  [Name in keyof SessionRow]: (typeof COLUMNS)[Name] extends Wanted ? Name : never;
}[keyof SessionRow];

const columnsOf = <Wanted extends Kind>(...wanted: Wanted[]): Column<Wanted>[] =>
  (Object.keys(COLUMNS) as (keyof SessionRow)[]).filter((name): name is Column<Wanted> =>
    (wanted as Kind[]).includes(COLUMNS[name]),
  );

/** The columns with content. */
export const CONTENT_COLUMNS = columnsOf('content');

/** The columns with texts of the session's client, which may contain anything. */
export const TEXT_COLUMNS = columnsOf('content', 'description');
export type SessionTexts = Pick<SessionRow, (typeof TEXT_COLUMNS)[number]>;

const without = (columns: readonly (typeof TEXT_COLUMNS)[number][]) => {
  const nothing = Object.fromEntries(columns.map((name) => [name, null]));
  return <Row extends SessionTexts>(row: Row): Row => ({ ...row, ...nothing });
};

/** The row as its readers see it who may not read the content of the session. */
export const withoutContent = without(CONTENT_COLUMNS);

/** The row as a share of figures shows it. */
export const withoutTexts = without(TEXT_COLUMNS);
