import { Page } from '../components/page.tsx';

export function EnvironmentsPage() {
  return <Page title="Environments">…</Page>;
}
