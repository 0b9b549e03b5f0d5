import { basePath, hrefOf } from './kit/base-path.ts';
import './styles.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { paths, shareTokenOf } from '../contract/pages.ts';
import { createApi, createAuthorizedFetch, createQueryClient } from './app/api.ts';
import { AppProvider } from './app/app.ts';
import { type Auth, createAuth, currentAddress, justSignedOut } from './app/auth.ts';
import { createLive } from './app/live.ts';
import { createIndexReader } from './app/read-index.ts';
import type { End } from './app/tabs.ts';
import { SignedOut, SignInFailed, SigningIn } from './frame/sign-in.tsx';
import { createAppRouter } from './routes.tsx';

const root = createRoot(document.getElementById('root') as HTMLElement);
const show = (content: ReactNode) => root.render(<StrictMode>{content}</StrictMode>);

/** In milliseconds. With a quick provider, the page would only flash if it were shown sooner. */
const SHOW_WAITING_AFTER = 1_000;

/** Signs the person in before anything else, since no page works without a person. */
async function main(): Promise<void> {
  const waiting = setTimeout(() => show(<SigningIn />), SHOW_WAITING_AFTER);
  await signIn().finally(() => clearTimeout(waiting));
}

async function signIn(): Promise<void> {
  const token = shareTokenOf(window.location.pathname.slice(basePath().length));
  if (token !== undefined) {
    // A share opens without a sign-in, because most of its readers are not signed in.
    const { SharePage } = await import('./share/share-page.tsx');
    show(<SharePage token={token} />);
    return;
  }
  const auth = await createAuth();
  if (window.location.pathname === hrefOf(paths.signedIn())) {
    window.history.replaceState(null, '', await auth.finishSignIn());
  } else if (justSignedOut()) {
    showSignedOut(auth);
    return;
  }
  await auth.token();
  await showDashboard(auth);
}

async function showDashboard(auth: Auth): Promise<void> {
  const api = createApi(auth);
  const authorizedFetch = createAuthorizedFetch(auth);
  const indexes = createIndexReader(authorizedFetch);
  const app = { auth, api, indexes, live: createLive(authorizedFetch) };
  const client = createQueryClient();
  auth.onEnd((end) => {
    if (end === 'left') return window.location.assign(hrefOf(paths.home()));
    showSignedOut(auth, end);
    client.clear();
  });
  const router = createAppRouter({ api, client, indexes });
  // A page that is rendered before its code is loaded stays empty for at least 300 ms.
  await router.load();
  show(
    <AppProvider value={app}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </AppProvider>,
  );
}

const showSignedOut = (auth: Auth, end?: End) =>
  show(<SignedOut {...(end && { end })} onSignIn={() => void auth.signIn(currentAddress()).catch(fail)} />);

const fail = (error: unknown) => show(<SignInFailed error={error} onRetry={retry} />);

function retry(): void {
  // The answer of the identity provider can only be used once.
  if (window.location.pathname === hrefOf(paths.signedIn()))
    window.history.replaceState(null, '', hrefOf(paths.home()));
  main().catch(fail);
}

main().catch(fail);
