import { Keyboard, PanelRight } from 'lucide-react';
import { useEffect, useState } from 'react';
import { paths } from '../../contract/pages.ts';
import type { SessionFacts, SessionSummary } from '../../contract/review.ts';
import type { Session } from '../../contract/session.ts';
import { useEnvironments } from '../app/queries.ts';
import { Heading } from '../frame/heading.tsx';
import { serviceAddress } from '../kit/base-path.ts';
import { Button } from '../kit/button.tsx';
import { CopyButton } from '../kit/copy.tsx';
import { formatCount, formatDuration, formatExact, formatTokens, plural } from '../kit/format.ts';
import { Scroll } from '../kit/scroll.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { useAtNow } from '../kit/time.tsx';
import { AgentName, agentName } from '../shared/agent-name.tsx';
import { nameOfEnvironment } from '../shared/environment-name.ts';
import { useOwnerOf } from '../shared/person-name.tsx';
import { costOf } from '../shared/session-cost.tsx';
import { durationOf, endOf, hasTimes, startOf, titleOf } from '../shared/session-title.ts';
import { StatusMark, stateOf } from '../shared/status-mark.tsx';
import { VisibilityMark } from '../shared/visibility-mark.tsx';
import { DownloadMenu } from './download-menu.tsx';
import type { Timeline } from './model/build.ts';
import type { Head } from './model/markdown.ts';
import type { Outcome } from './model/outcome.ts';
import { OtherSenders } from './other-senders.tsx';
import { OutcomeLine, type OutcomeLinks } from './outcome-line.tsx';
import { Related } from './related.tsx';
import { keptInWords, whyKept } from './retention-words.ts';
import { SeenBy } from './seen-by.tsx';
import { SessionMenu } from './session-menu.tsx';

interface Props extends OutcomeLinks {
  session: Session;
  summary: SessionSummary | undefined;
  facts: SessionFacts | undefined;
  timeline: Timeline;
  /** False while the timeline has a part of the session. */
  isWhole: boolean;
  isInspecting: boolean;
  outcome: Outcome;
  linkOf: () => string;
  onInspect: () => void;
  onHelp: () => void;
  /** Absent if the person may not read its content. */
  onMask: (() => void) | undefined;
}

/** The header of a session: its title, its outcome and its facts. */
export function SessionHeader(props: Props) {
  const {
    session,
    summary,
    facts,
    timeline,
    isWhole,
    isInspecting,
    outcome,
    linkOf,
    onInspect,
    onHelp,
    onMask,
    ...links
  } = props;
  const { meta } = timeline;
  const figures = isWhole ? figuresOf(timeline) : summary;
  const isLive = useAtNow((now) => stateOf(session, summary, now) === 'live');
  const environment = useEnvironments().data?.find(({ environmentId }) => environmentId === session.environmentId);
  const title = meta.title ?? titleOf(session, summary);
  const branch = meta.branch ?? summary?.gitBranch;
  const machine = environment && nameOfEnvironment(environment);
  const ownerOf = useOwnerOf();
  const owner = summary && ownerOf(summary, machine);
  const head = (): Head => {
    const end = endOf(session, summary, Date.now());
    const facts: [name: string, value: string | undefined][] = [
      ['agent', agentName(session.agentId)],
      ['model', meta.model ?? summary?.model],
      ['repository', summary?.repository],
      ['branch', branch],
      ['machine', machine],
      ['person', owner],
      [
        'time',
        hasTimes(summary)
          ? `${new Date(startOf(session, summary)).toISOString()} to ${new Date(end).toISOString()}`
          : undefined,
      ],
      ['cost', summary && costOf(summary).text],
      ['link', serviceAddress() + paths.session(session.sessionId)],
    ];
    return facts.flatMap(([name, value]): Head => (value ? [[name, value]] : []));
  };
  return (
    <header className="pt-3 pr-4 pb-2 pl-5 max-sm:px-3 max-sm:pb-1.5 print:[&_button:not(li_*)]:hidden">
      <div className="flex items-start gap-3 max-sm:gap-1 max-sm:pl-9">
        <div className="min-w-0 grow">
          <title>{`${showHidden(title.slice(0, 80))} · Session Capture`}</title>
          <Heading
            className="truncate text-16 max-sm:line-clamp-2 max-sm:whitespace-normal max-sm:text-14"
            title={showHidden(title)}
          >
            {showHidden(title)}
          </Heading>
        </div>
        <div className="flex flex-none gap-1">
          <CopyButton text={linkOf} label="Copy the link">
            Copy link
          </CopyButton>
          <DownloadMenu sessionId={session.sessionId} title={title} head={head} />
          <Button size="small" tone="quiet" icon aria-label="Keys" className="max-sm:hidden" onClick={onHelp}>
            <Keyboard size={14} />
          </Button>
          <Button size="small" tone="quiet" icon aria-label="Inspector" aria-pressed={isInspecting} onClick={onInspect}>
            <PanelRight size={14} />
          </Button>
          <SessionMenu {...{ session, onHelp, onMask }} />
        </div>
      </div>
      <OutcomeLine
        {...links}
        outcome={outcome}
        summary={facts?.summary ?? summary}
        isLive={isLive}
        elapsed={<Elapsed session={session} summary={summary} />}
      />
      <Scroll
        aria-label="About this session"
        className="max-sm:flex max-sm:gap-3.5 max-sm:overflow-x-auto max-sm:[mask-image:linear-gradient(to_right,#000_calc(100%-32px),transparent)] max-sm:[scrollbar-width:none]"
      >
        {/* On a small screen, a fade shows that there is more. */}
        <p className={`${FACTS} min-h-5`}>
          {session.secretEnvironment === 'test' && <span className="tag text-test">test</span>}
          <VisibilityMark session={session} />
          {facts?.holdId !== undefined && (
            <span
              className="tag"
              title="A legal hold keeps this session: nobody may delete it until an admin releases the hold"
            >
              held
            </span>
          )}
          <StatusMark session={session} summary={summary} word />
          <AgentName agentId={session.agentId} />
          <Fact name="person">{owner}</Fact>
          <Fact name="machine">{machine}</Fact>
          <Fact name="branch">{branch}</Fact>
          <Fact name="model">{meta.model ?? summary?.model}</Fact>
          <Fact name="folder">{meta.cwd}</Fact>
        </p>
        <div className={`${FACTS} min-h-6 has-[details[open]]:flex-wrap`}>
          <span>{plural(session.eventCount, 'event')}</span>
          {summary && summary.summarizedThrough < session.eventCount && (
            <span role="status" className="text-muted" title="Figures and milestones update by themselves">
              figures cover {formatCount(summary.summarizedThrough)} so far
            </span>
          )}
          {figures && (
            <>
              <span>{plural(figures.prompts, 'prompt')}</span>
              <span>{plural(figures.toolCalls, 'tool call')}</span>
              {figures.inputTokens + figures.outputTokens > 0 && (
                <span title={`${formatCount(figures.cachedTokens)} of them read from the cache`}>
                  {formatTokens(figures.inputTokens)} tokens in, {formatTokens(figures.outputTokens)} out
                </span>
              )}
              {figures.redactions > 0 && <span>{plural(figures.redactions, 'redaction')}</span>}
            </>
          )}
          {facts && keptInWords(facts) !== undefined && <span title={whyKept(facts)}>{keptInWords(facts)}</span>}
          {facts && <Related sessionId={session.sessionId} related={facts.related} />}
          {onMask && <OtherSenders sessionId={session.sessionId} />}
          {facts && <SeenBy sessionId={session.sessionId} userId={facts.summary.userId} />}
        </div>
      </Scroll>
    </header>
  );
}

type Figures = Pick<
  SessionSummary,
  'prompts' | 'toolCalls' | 'inputTokens' | 'cachedTokens' | 'outputTokens' | 'redactions'
>;

const figuresOf = ({ prompts, toolCalls, usage: { total }, redactions }: Timeline): Figures => ({
  prompts: prompts.length,
  toolCalls,
  inputTokens: total.input,
  cachedTokens: total.cacheRead,
  outputTokens: total.output,
  redactions,
});

/**
 * Each line has its height from the start, so that facts that arrive later do not move the content below. The second one is high
 * enough for a link to be clicked.
 */
const FACTS =
  'flex min-w-0 items-center gap-x-3.5 overflow-hidden whitespace-nowrap text-12/5 text-muted max-sm:flex-none max-sm:overflow-visible [:where(&>*)]:flex-none';

/** A long name is cut, so that the line does not wrap. */
const Fact = ({ name, children }: { name: string; children: string | undefined }) =>
  children ? (
    <span className="min-w-0 max-w-max flex-[1_1_64px]" title={`${name}: ${showHidden(children)}`}>
      <span className="block max-w-64 truncate">{showHidden(children)}</span>
    </span>
  ) : null;

/** The duration of a session. While it is live, the time since its start, updated every second. */
export function Elapsed({ session, summary }: { session: Session; summary: SessionSummary | undefined }) {
  const [now, setNow] = useState(Date.now);
  const isLive = stateOf(session, summary, now) === 'live';
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isLive]);
  const start = startOf(session, summary);
  const duration = isLive ? now - start : durationOf(session, summary, now);
  if (duration === undefined) return <span title="The agent does not record times">times unknown</span>;
  // While the session runs, the duration counts seconds.
  return (
    <span title={`since ${formatExact(start)}`}>{formatDuration(isLive ? Math.max(1000, duration) : duration)}</span>
  );
}
