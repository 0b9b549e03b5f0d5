import { Link } from '@tanstack/react-router';
import { paths } from '../paths.ts';
import type { SessionFilter } from '../queries.ts';
import { CopyLine } from '../ui/copy.tsx';
import { Empty } from '../ui/notes.tsx';

export function NoSessions({ filter }: { filter: SessionFilter }) {
  if (filter.environment || filter.agent) {
    return (
      <Empty title="No session fits the filters">
        <p>Take one away, or look at another plane.</p>
      </Empty>
    );
  }
  return (
    <Empty title={filter.plane === 'test' ? 'No session on the test plane yet' : 'No sessions yet'}>
      <p>
        Each run of an agent on a machine becomes one line here, while it happens. On a machine that is logged in, this
        captures the sessions it already has:
      </p>
      <CopyLine text="capture import" label="Copy the command" />
      <p>
        A machine that is not logged in yet?{' '}
        <Link to={paths.welcome()} className="link">
          Connect it
        </Link>
        .
      </p>
    </Empty>
  );
}
