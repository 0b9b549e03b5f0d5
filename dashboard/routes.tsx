import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import { Gate } from './components/gate.tsx';
import { AgentsPage } from './pages/agents.tsx';
import { EnvironmentsPage } from './pages/environments.tsx';
import { LostPage } from './pages/lost.tsx';
import { MembersPage } from './pages/members.tsx';
import { OrganizationPage } from './pages/organization.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { SecretsPage } from './pages/secrets.tsx';
import { SessionsPage } from './pages/sessions.tsx';
import { WelcomePage } from './pages/welcome.tsx';
import { type FrameSearch, readFrameSearch, readSessionSearch, readSessionsSearch } from './search.ts';

/** The plane is part of every address, so that a link shows what its sender saw. */
const rootRoute = createRootRoute({
  component: Gate,
  notFoundComponent: LostPage,
  validateSearch: readFrameSearch,
  search: { middlewares: [retainSearchParams<FrameSearch>(['plane'])] },
});

const under = { getParentRoute: () => rootRoute };

const overviewRoute = createRoute({ ...under, path: '/', component: OverviewPage });
const welcomeRoute = createRoute({ ...under, path: '/welcome', component: WelcomePage });
const sessionsRoute = createRoute({
  ...under,
  path: '/sessions',
  component: SessionsPage,
  validateSearch: readSessionsSearch,
});
const sessionRoute = createRoute({
  ...under,
  path: '/sessions/$sessionId',
  component: lazyRouteComponent(() => import('./pages/session.tsx'), 'SessionPage'),
  validateSearch: readSessionSearch,
});
const environmentsRoute = createRoute({ ...under, path: '/environments', component: EnvironmentsPage });
const agentsRoute = createRoute({ ...under, path: '/agents', component: AgentsPage });
const membersRoute = createRoute({ ...under, path: '/members', component: MembersPage });
const secretsRoute = createRoute({ ...under, path: '/secrets', component: SecretsPage });
const organizationRoute = createRoute({ ...under, path: '/organization', component: OrganizationPage });

const routeTree = rootRoute.addChildren([
  overviewRoute,
  welcomeRoute,
  sessionsRoute,
  sessionRoute,
  environmentsRoute,
  agentsRoute,
  membersRoute,
  secretsRoute,
  organizationRoute,
]);

export const createAppRouter = () => createRouter({ routeTree, defaultPreload: 'intent' });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
