import { Link } from '@tanstack/react-router';
import { paths } from '../../contract/pages.ts';
import type { SessionSearch } from '../app/queries.ts';
import { CopyLine } from '../kit/copy.tsx';
import { Empty } from '../kit/notes.tsx';

/** Explains an empty list, and how to fill it. */
export function NoSessions({ q, plane }: Pick<SessionSearch, 'q' | 'plane'>) {
  if (q) {
    return (
      <Empty title="No matching sessions">
        <p>
          Remove a word or a filter,{' '}
          {plane !== 'all' && (
            <>
              <Link to="/sessions" search={(search) => ({ ...search, plane: 'all' })} className="link">
                search both planes
              </Link>
              ,{' '}
            </>
          )}
          or{' '}
          <Link to="/sessions" search={({ plane: same }) => ({ plane: same })} className="link">
            clear the search
          </Link>
          .
        </p>
      </Empty>
    );
  }
  return (
    <Empty title={plane === 'test' ? 'No session on the test plane yet' : 'No sessions yet'}>
      <p>
        Each run of an agent on a machine appears here while it happens. On a machine that is signed in, this command
        captures new sessions and asks whether to send earlier ones too:
      </p>
      <CopyLine text="capture init" label="Copy the command" />
      <p>
        Is your machine not signed in yet?{' '}
        <Link to={paths.welcome()} className="link">
          Connect it
        </Link>
        .
      </p>
    </Empty>
  );
}
