import { Page } from '../components/page.tsx';

export function SecretsPage() {
  return <Page title="Secrets">…</Page>;
}
