import './styles/base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createApi, createAuthorizedFetch, createQueryClient } from './api.ts';
import { AppProvider } from './app.ts';
import { type Auth, createAuth, currentAddress, justSignedOut } from './auth.ts';
import { createLive } from './live.ts';
import { SignedOut, SignInFailed } from './pages/sign-in.tsx';
import { paths } from './paths.ts';
import { createAppRouter } from './routes.tsx';

const root = createRoot(document.getElementById('root') as HTMLElement);
const show = (content: ReactNode) => root.render(<StrictMode>{content}</StrictMode>);

/** Sign-in first: nothing of the dashboard is there without a person. */
async function main(): Promise<void> {
  const auth = await createAuth();
  if (window.location.pathname === paths.signedIn()) {
    window.history.replaceState(null, '', await auth.finishSignIn());
  } else if (justSignedOut()) {
    show(<SignedOut onSignIn={() => void auth.signIn(currentAddress()).catch(fail)} />);
    return;
  }
  await auth.token();
  showDashboard(auth);
}

function showDashboard(auth: Auth): void {
  const api = createApi(auth);
  const app = { auth, api, live: createLive(createAuthorizedFetch(auth)) };
  const client = createQueryClient();
  show(
    <AppProvider value={app}>
      <QueryClientProvider client={client}>
        <RouterProvider router={createAppRouter({ api, client })} />
      </QueryClientProvider>
    </AppProvider>,
  );
}

const fail = (error: unknown) => show(<SignInFailed error={error} onRetry={retry} />);

function retry(): void {
  // What the identity provider answered is good for one attempt.
  if (window.location.pathname === paths.signedIn()) window.history.replaceState(null, '', paths.home());
  main().catch(fail);
}

main().catch(fail);
