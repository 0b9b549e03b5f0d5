import './compare.css';
import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { SessionFacts } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { useFacts, useSession } from '../app/queries.ts';
import { Page } from '../frame/page.tsx';
import { formatCount, formatExact, plural } from '../kit/format.ts';
import { Lines } from '../kit/lines.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { AgentName } from '../shared/agent-name.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { titleOf } from '../shared/session-title.ts';
import { joinFiles, readFigures } from './rows.ts';

/** Compares two sessions: a fork with its origin, or two agents at the same task. */
export function ComparePage() {
  const { one, other } = useSearch({ from: '/compare' });
  return (
    <Page title="Compare sessions">
      {one === undefined || other === undefined ? (
        <p className="text-muted">
          Choose two sessions in{' '}
          <Link to="/sessions" className="link">
            the list
          </Link>
          : the menu of a row has “Compare with…”.
        </p>
      ) : (
        <Pair key={`${one} ${other}`} one={one} other={other} />
      )}
    </Page>
  );
}

function useSide(sessionId: string) {
  const session = useSession(sessionId);
  const facts = useFacts(sessionId, session.data?.eventCount);
  return {
    session: session.data,
    facts: facts.data,
    error: session.error ?? facts.error,
    retry: () => void Promise.all([session.refetch(), facts.refetch()]),
  };
}

function Pair({ one: oneId, other: otherId }: { one: string; other: string }) {
  const one = useSide(oneId);
  const other = useSide(otherId);
  const failed = [one, other].find(({ error }) => error);
  if (failed) return <ErrorNote error={failed.error} onRetry={failed.retry} />;
  if (!one.session || !one.facts || !other.session || !other.facts) return <p className="text-muted">Loading…</p>;
  return (
    <Comparison
      one={{ session: one.session, facts: one.facts }}
      other={{ session: other.session, facts: other.facts }}
    />
  );
}

interface Side {
  session: Session;
  facts: SessionFacts;
}

/** Both sessions side by side in one table. */
function Comparison({ one, other }: { one: Side; other: Side }) {
  const figures = readFigures(one.facts, other.facts);
  const files = joinFiles(one.facts, other.facts);
  return (
    <table className="compare">
      <caption className="sr-only">The two sessions, side by side</caption>
      <thead>
        <tr>
          <td />
          <Head {...one} />
          <Head {...other} />
        </tr>
      </thead>
      <tbody>
        {figures.map(({ name, better, ...values }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {(['one', 'other'] as const).map((side) => (
              <td key={side} className="num" data-better={better === side || undefined}>
                {showHidden(values[side])}
                {better === side && <span className="ml-2 font-normal text-12/5 text-ok">better</span>}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
      <Prompts one={one} other={other} />
      <Group name={`Files ${formatCount(files.length)}`}>
        {files.slice(0, MAX_FILES).map(({ path, ...sides }) => (
          <tr key={path}>
            <th scope="row" className="font-mono text-12/5" title={showHidden(path)}>
              <bdi>{showHidden(path)}</bdi>
            </th>
            <Changed sessionId={one.session.sessionId} file={sides.one} />
            <Changed sessionId={other.session.sessionId} file={sides.other} />
          </tr>
        ))}
        {files.length > MAX_FILES && <Note>and {formatCount(files.length - MAX_FILES)} more</Note>}
        {files.length === 0 && <Note>Neither session edited a file.</Note>}
      </Group>
    </table>
  );
}

const Head = ({ session, facts }: Side) => (
  <th scope="col">
    <Link to="/sessions/$sessionId" params={{ sessionId: session.sessionId }} search={{}} className="link line-clamp-2">
      {showHidden(titleOf(session, facts.summary))}
    </Link>
    <p className="flex flex-wrap gap-x-3 font-normal text-12 text-muted">
      <AgentName agentId={session.agentId} />
      {formatExact(Date.parse(session.startedAt))}
    </p>
  </th>
);

/** At most this many files are listed. */
const MAX_FILES = 200;

/** The prompts of both sessions, turn by turn. */
function Prompts({ one, other }: { one: Side; other: Side }) {
  const kept = Math.max(one.facts.turns.length, other.facts.turns.length);
  const more = Math.max(one.facts.summary.prompts, other.facts.summary.prompts) - kept;
  return (
    <Group name="Prompts">
      {Array.from({ length: kept }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns never move
        <tr key={at}>
          <th scope="row">turn {at + 1}</th>
          <Prompt side={one} at={at} />
          <Prompt side={other} at={at} />
        </tr>
      ))}
      {more > 0 && <Note>{kept === 0 ? `${plural(more, 'prompt')} not shown` : `and ${formatCount(more)} more`}</Note>}
      {kept + more === 0 && <Note>Neither session has a prompt.</Note>}
    </Group>
  );
}

function Prompt({ side: { session, facts }, at }: { side: Side; at: number }) {
  const turn = facts.turns[at];
  // Content may be hidden from the reader.
  if (!turn) return <td className="text-muted">{at < facts.summary.prompts ? 'not shown' : '–'}</td>;
  const { sequence, prompt, calls, failures } = turn;
  return (
    <td>
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId: session.sessionId }}
        search={{ e: sequence }}
        className="line-clamp-2 hover:underline"
      >
        {showHidden(prompt) || 'Image'}
      </Link>
      <span className="num text-12 text-muted" title="Without its sub-agents">
        {plural(calls, 'call')}
        {failures > 0 && <span className="text-bad"> · {formatCount(failures)} failed</span>}
      </span>
    </td>
  );
}

function Changed({ sessionId, file }: { sessionId: string; file: SessionFacts['files'][number] | undefined }) {
  if (!file) return <td className="text-muted">–</td>;
  return (
    <td className="num">
      <Link to="/sessions/$sessionId" params={{ sessionId }} search={{ e: file.sequence }} className="hover:underline">
        <Lines added={file.added} removed={file.removed} />
      </Link>
    </td>
  );
}

const Group = ({ name, children }: { name: string; children: ReactNode }) => (
  <tbody>
    <tr>
      <th scope="colgroup" colSpan={3} className="pt-6 font-semibold text-text">
        {name}
      </th>
    </tr>
    {children}
  </tbody>
);

const Note = ({ children }: { children: ReactNode }) => (
  <tr>
    <td colSpan={3} className="text-muted">
      {children}
    </td>
  </tr>
);
