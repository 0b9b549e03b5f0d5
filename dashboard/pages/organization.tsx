import { Page } from '../components/page.tsx';

export function OrganizationPage() {
  return <Page title="Organization">…</Page>;
}
