import type { Usage } from '../../contract/review.ts';
import { paths } from '../app/paths.ts';
import type { FrameSearch } from '../app/search.ts';
import { formatDuration } from '../kit/format.ts';
import { useNow } from '../kit/time.tsx';
import { SessionLines } from './session-lines.tsx';

/** The service returns at most this many. */
const MOST = 20;

/** The sessions that run at this moment. */
export function Running({ running, plane }: Pick<Usage, 'running'> & Pick<FrameSearch, 'plane'>) {
  const now = useNow();
  return (
    <section aria-labelledby="running" className="overview-part">
      <h2 id="running" className="mb-1 text-14">
        Running now
        {running.length > 0 && (
          <span className="font-normal text-muted">
            {' '}
            · {running.length}
            {running.length >= MOST && ' or more'}
          </span>
        )}
      </h2>
      {running.length === 0 && <p className="text-13 text-muted">No agent is working.</p>}
      <SessionLines
        lines={running.map(({ session, summary }) => ({
          session,
          summary,
          tags: [{ text: formatDuration(Math.max(0, now - Date.parse(session.startedAt))) }],
        }))}
      />
      {running.length >= MOST && (
        <a href={paths.sessions({ q: 'status:active', plane })} className="link mt-2 inline-block text-13">
          All active sessions
        </a>
      )}
    </section>
  );
}
