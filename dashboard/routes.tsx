import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, createRouter, retainSearchParams } from '@tanstack/react-router';
import type { Client } from '../contract/client.ts';
import { type FrameSearch, stringifySearch } from '../contract/pages.ts';
import { personQuery, sessionQuery, sessionsQuery } from './app/queries.ts';
import type { IndexReader } from './app/read-index.ts';
import {
  parseSearch,
  readAddOnsSearch,
  readAuditSearch,
  readCompareSearch,
  readDeviceSearch,
  readFrameSearch,
  readHoldsSearch,
  readOverviewSearch,
  readSessionSearch,
  readSessionsSearch,
} from './app/search.ts';
import { Gate } from './frame/gate.tsx';
import { BrokenPage, LostPage } from './frame/lost.tsx';
import { basePath } from './kit/base-path.ts';
import { lazyPart } from './kit/lazy.tsx';

/** The clients with which routes start queries early. Routes do not wait for them; the page shows what is still missing. */
interface RouteContext {
  api: Client;
  client: QueryClient;
  indexes: IndexReader;
}

/** The plane is part of every address, so that a link shows what its sender saw. */
const rootRoute = createRootRouteWithContext<RouteContext>()({
  component: Gate,
  notFoundComponent: LostPage,
  validateSearch: readFrameSearch,
  search: { middlewares: [retainSearchParams<FrameSearch>(['plane'])] },
  loader: ({ context: { api, client } }) => void client.prefetchQuery(personQuery(api)),
});

const under = { getParentRoute: () => rootRoute };

const overviewRoute = createRoute({
  ...under,
  path: '/',
  component: lazyPart(() => import('./overview/overview.tsx'), 'OverviewPage'),
  validateSearch: readOverviewSearch,
});
const welcomeRoute = createRoute({
  ...under,
  path: '/welcome',
  component: lazyPart(() => import('./admin/welcome.tsx'), 'WelcomePage'),
});
const deviceRoute = createRoute({
  ...under,
  path: '/device',
  component: lazyPart(() => import('./admin/device.tsx'), 'DevicePage'),
  validateSearch: readDeviceSearch,
});
const sessionsRoute = createRoute({
  ...under,
  path: '/sessions',
  component: lazyPart(() => import('./sessions/sessions.tsx'), 'SessionsPage'),
  validateSearch: readSessionsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { api, client }, deps: { plane, q, order, direction } }) =>
    void client.prefetchInfiniteQuery(sessionsQuery(api, { plane, q, order, direction })),
});
const sessionRoute = createRoute({
  ...under,
  path: '/sessions/$sessionId',
  component: lazyPart(() => import('./session/session.tsx'), 'SessionPage'),
  validateSearch: readSessionSearch,
  loader: ({ context: { api, client, indexes }, params: { sessionId }, cause }) => {
    void client.prefetchQuery(sessionQuery(api, sessionId));
    // Not for a preload when the pointer is over a link, since an index may have megabytes.
    if (cause === 'enter') indexes.ahead(sessionId);
  },
});
const compareRoute = createRoute({
  ...under,
  path: '/compare',
  component: lazyPart(() => import('./compare/compare.tsx'), 'ComparePage'),
  validateSearch: readCompareSearch,
});
const environmentsRoute = createRoute({
  ...under,
  path: '/environments',
  component: lazyPart(() => import('./admin/environments.tsx'), 'EnvironmentsPage'),
});
const addOnsRoute = createRoute({
  ...under,
  path: '/add-ons',
  component: lazyPart(() => import('./add-ons/add-ons.tsx'), 'AddOnsPage'),
  validateSearch: readAddOnsSearch,
});
const agentsRoute = createRoute({
  ...under,
  path: '/agents',
  component: lazyPart(() => import('./admin/agents.tsx'), 'AgentsPage'),
});
const membersRoute = createRoute({
  ...under,
  path: '/members',
  component: lazyPart(() => import('./admin/members.tsx'), 'MembersPage'),
});
const memberRoute = createRoute({
  ...under,
  path: '/members/$userId',
  component: lazyPart(() => import('./admin/member.tsx'), 'MemberPage'),
});
const secretsRoute = createRoute({
  ...under,
  path: '/secrets',
  component: lazyPart(() => import('./admin/secrets.tsx'), 'SecretsPage'),
});
const policyRoute = createRoute({
  ...under,
  path: '/policy',
  component: lazyPart(() => import('./admin/policy.tsx'), 'PolicyPage'),
});
const auditRoute = createRoute({
  ...under,
  path: '/audit',
  component: lazyPart(() => import('./admin/audit.tsx'), 'AuditPage'),
  validateSearch: readAuditSearch,
});
const holdsRoute = createRoute({
  ...under,
  path: '/holds',
  component: lazyPart(() => import('./admin/holds.tsx'), 'HoldsPage'),
  validateSearch: readHoldsSearch,
});
const organizationRoute = createRoute({
  ...under,
  path: '/organization',
  component: lazyPart(() => import('./admin/organization.tsx'), 'OrganizationPage'),
});

const routeTree = rootRoute.addChildren([
  overviewRoute,
  welcomeRoute,
  deviceRoute,
  sessionsRoute,
  sessionRoute,
  compareRoute,
  environmentsRoute,
  addOnsRoute,
  agentsRoute,
  membersRoute,
  memberRoute,
  secretsRoute,
  organizationRoute,
  policyRoute,
  auditRoute,
  holdsRoute,
]);

export const createAppRouter = (context: RouteContext) =>
  createRouter({
    routeTree,
    context,
    basepath: basePath(),
    defaultPreload: 'intent',
    // Going back to a list restores its scroll position; a new page begins at its top.
    scrollRestoration: true,
    scrollToTopSelectors: ['#page'],
    defaultErrorComponent: BrokenPage,
    parseSearch,
    stringifySearch,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
