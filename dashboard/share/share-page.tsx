import { basePath } from '../kit/base-path.ts';
import '../session/session.css';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type Client, createClient, ServiceError } from '../../contract/client.ts';
import type { SharedSession } from '../../contract/share.ts';
import { createApi } from '../app/api.ts';
import { createAuth } from '../app/auth.ts';
import { Wordmark } from '../frame/wordmark.tsx';
import { formatCount, formatExact } from '../kit/format.ts';
import { Pairs } from '../kit/pairs.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { AgentName } from '../shared/agent-name.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { LEVEL_WORDS } from '../shared/share-levels.ts';

/** A share as its reader sees it. */
interface ReadShare {
  shared: SharedSession;
  /** The timeline as HTML, with all text of the session escaped; absent at the level `figures`. */
  html?: string;
}

/** A shared session, on a page without a sign-in and without links to other pages. */
export function SharePage({ token, read = readShare }: { token: string; read?: typeof readShare }) {
  const [share, setShare] = useState<ReadShare>();
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt reads the share again
  useEffect(() => {
    let isCurrent = true;
    read(token).then(
      (done) => isCurrent && setShare(done),
      (cause: unknown) => isCurrent && setError(cause),
    );
    return () => {
      isCurrent = false;
    };
  }, [token, read, attempt]);
  const retry = () => {
    setError(undefined);
    setAttempt(attempt + 1);
  };
  if (error !== undefined) {
    return (
      <Frame title="A shared session">
        {isUnknown(error) ? (
          <p>There is no such share. Ask who sent you the link for a new one.</p>
        ) : (
          <ErrorNote error={error} onRetry={retry} />
        )}
      </Frame>
    );
  }
  if (!share) {
    return (
      <Frame title="A shared session">
        <p role="status" className="text-muted">
          Loading the session…
        </p>
      </Frame>
    );
  }
  const { shared, html } = share;
  return (
    <Frame title={shared.title === undefined ? 'A shared session' : showHidden(shared.title)}>
      <p className="rounded-md border border-line bg-sunken px-3 py-2 text-13">{LEVEL_WORDS[shared.level]}</p>
      <Pairs pairs={aboutOf(shared)} nameWidth={120} />
      {shared.figures && <Pairs look="figures" pairs={figuresOf(shared.figures)} />}
      {html !== undefined && <Paper html={html} />}
    </Frame>
  );
}

/** Opens a share without a sign-in, and signed in if the service requires it. */
async function readShare(token: string): Promise<ReadShare> {
  const asNobody = createClient({ baseUrl: basePath() });
  try {
    return await read(asNobody, token);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 401) throw error;
    // A person who has not signed in is sent to the identity provider and returns to this page.
    return read(createApi(await createAuth()), token);
  }
}

async function read(api: Client, token: string): Promise<ReadShare> {
  const shared = (await api.getShare({ token })).body;
  if (shared.level === 'figures') return { shared };
  const [{ eachOf, readWholeTimeline }, { toHtmlElements }] = await Promise.all([
    import('../session/download.ts'),
    import('../session/model/html.ts'),
  ]);
  const timeline = await readWholeTimeline(eachOf((query) => api.listSharedEvents({ token, query })));
  return { shared, html: toHtmlElements(timeline) };
}

const isUnknown = (error: unknown) => error instanceof ServiceError && error.status === 404;

function Frame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="mx-auto flex max-w-[820px] flex-col gap-5 px-4 py-8 sm:px-6">
      <title>{`${title} · Session Capture`}</title>
      <meta name="robots" content="noindex" />
      <meta name="referrer" content="no-referrer" />
      <Wordmark />
      <h1 className="text-20 [overflow-wrap:anywhere]">{title}</h1>
      {children}
    </main>
  );
}

/** Shows HTML in which all text of the session is escaped. It is parsed outside of the page, so that nothing in it can run. */
function Paper({ html }: { html: string }) {
  const paper = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parsed = new DOMParser().parseFromString(html, 'text/html');
    paper.current?.replaceChildren(...parsed.body.childNodes);
  }, [html]);
  return <div ref={paper} className="paper" />;
}

const timeOf = (time: string | undefined) => (time === undefined ? undefined : formatExact(Date.parse(time)));

const aboutOf = ({ agentId, startedAt, endedAt, repository, eventCount, from, to, expiresAt }: SharedSession) => [
  { name: 'Agent', value: <AgentName agentId={agentId} /> },
  { name: 'Started', value: timeOf(startedAt) },
  { name: 'Ended', value: timeOf(endedAt) },
  { name: 'Repository', value: repository === undefined ? undefined : showHidden(repository) },
  { name: 'Events', value: formatCount(eventCount) },
  {
    name: 'Part',
    value: from === undefined && to === undefined ? undefined : `only event ${from ?? 1} to ${to ?? 'the end'}`,
  },
  { name: 'Shared until', value: timeOf(expiresAt) },
];

const figuresOf = (figures: NonNullable<SharedSession['figures']>) => [
  { name: 'Prompts', value: formatCount(figures.prompts) },
  { name: 'Calls', value: formatCount(figures.toolCalls) },
  { name: 'Failures', value: formatCount(figures.failures) },
  { name: 'Files', value: formatCount(figures.filesChanged) },
  { name: 'Lines', value: `+${formatCount(figures.linesAdded)} −${formatCount(figures.linesRemoved)}` },
  { name: 'Tokens in', value: formatCount(figures.inputTokens) },
  { name: 'Tokens out', value: formatCount(figures.outputTokens) },
];
