import { afterEach } from 'vitest';
import { cleanup } from 'vitest-browser-react';
import '../styles.css';
import '../session.css';

// In one document for all files, the library itself would do so only for the first.
afterEach(async () => {
  await cleanup();
  localStorage.clear();
  sessionStorage.clear();
  const { dataset } = document.documentElement;
  for (const choice of ['theme', 'density', 'time']) delete dataset[choice];
});
