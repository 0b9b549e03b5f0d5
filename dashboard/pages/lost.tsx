import { Link } from '@tanstack/react-router';
import { Page } from '../components/page.tsx';
import { paths } from '../paths.ts';

export function LostPage() {
  return (
    <Page title="No such page" context="The address may be mistyped.">
      <Link to={paths.sessions()} className="link">
        See the sessions
      </Link>
    </Page>
  );
}
