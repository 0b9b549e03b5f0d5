import { afterEach } from 'vitest';
import { cleanup } from 'vitest-browser-react';
import '../styles.css';
import '../overview/overview.css';
import '../sessions/sessions.css';
import '../compare/compare.css';
import '../session/session.css';

// All files share one document, and the library itself would only do this for the first file.
afterEach(async () => {
  await cleanup();
  localStorage.clear();
  sessionStorage.clear();
  const { dataset } = document.documentElement;
  for (const choice of ['theme', 'time']) delete dataset[choice];
});
