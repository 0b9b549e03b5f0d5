import { Page } from '../components/page.tsx';

export function WelcomePage() {
  return <Page title="Welcome">…</Page>;
}
