import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, RouterProvider } from '@tanstack/react-router';
import { render } from 'vitest-browser-react';
import { createQueryClient } from '../app/api.ts';
import { AppProvider } from '../app/app.ts';
import { createAppRouter } from '../routes.tsx';
import type { Service } from './service.ts';

/** Shows the dashboard at an address, as a person of the service sees it. */
export async function show(address: string, service: Service) {
  const app = service.app();
  const client = createQueryClient();
  const router = createAppRouter({ api: app.api, client, indexes: app.indexes });
  const history = createMemoryHistory({ initialEntries: [address] });
  router.update({ ...router.options, history });
  await router.load();
  const container = document.body.appendChild(Object.assign(document.createElement('div'), { id: 'root' }));
  const { unmount } = await render(
    <AppProvider value={app}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </AppProvider>,
    { container },
  );
  return { address: () => history.location.href, back: () => history.back(), close: unmount };
}
