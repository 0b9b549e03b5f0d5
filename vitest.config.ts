import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { patience, SEED } from './contract/test/runs.ts';
import { CHROMIUM } from './dashboard/e2e/harness/chromium.ts';
import { builtThreads } from './server/test/built-service.ts';

/** Programs that tests start find here what an earlier one compiled, and are there in half the time. */
const COMPILE_CACHE = join(import.meta.dirname, 'artefacts/compiled');

/** On a machine that nobody knows the load of, what failed is tried once more, with the same seed; the report says so. */
const RETRY = process.env.CI === undefined ? 0 : 1;

/** Files that `script/test --fast` leaves out. The option --exclude of the runner does not reach the projects. */
const LEFT_OUT = process.env.CAPTURE_TEST_WITHOUT?.split(' ') ?? [];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        plugins: [builtThreads()],
        test: {
          name: 'unit',
          include: ['{contract,redact,server,cli,dashboard,script,faults}/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'dashboard/e2e/**', 'cli/test/agents/real/**', ...LEFT_OUT],
          globalSetup: [
            'contract/test/temporary.ts',
            'cli/test/compiled.ts',
            'server/test/built-service.ts',
            'server/test/postgres.ts',
            'server/test/nats.ts',
          ],
          // For tests that hang. A test that is only slow, on a busy machine, must not fail.
          testTimeout: patience(180_000),
          hookTimeout: 180_000,
          expect: { poll: { timeout: 60_000 } },
          retry: RETRY,
          // Two processors are two workers: by default one of them would be left to the runner, which has little to do.
          maxWorkers: '100%',
          // A process of its own for each of 150 files, which loads everything anew, were a fifth of all the work.
          isolate: false,
          env: {
            CAPTURE_TEST_SEED: String(SEED),
            NODE_COMPILE_CACHE: COMPILE_CACHE,
            TMPDIR: join(tmpdir(), `capture-tests-${process.pid}`),
          },
        },
      },
      {
        // The pages as they are built, in a browser, and what the service answers made by the test.
        extends: 'dashboard/vite.config.ts',
        cacheDir: join(import.meta.dirname, 'artefacts/vite'),
        // A package that is met only while tests run would load their document anew.
        optimizeDeps: { force: true, entries: ['dashboard/kit/highlight-worker.ts'] },
        test: {
          name: 'component',
          include: ['**/*.test.tsx'],
          setupFiles: [join(import.meta.dirname, 'dashboard/test/setup.ts')],
          testTimeout: 30_000,
          expect: { poll: { timeout: 10_000 } },
          retry: RETRY,
          // The document is loaded once: a test takes away what it mounted.
          isolate: false,
          fileParallelism: false,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions: CHROMIUM, contextOptions: { reducedMotion: 'reduce' } }),
            instances: [{ browser: 'chromium', viewport: { width: 1280, height: 800 } }],
          },
        },
      },
      {
        extends: true,
        test: {
          name: 'agents',
          include: ['cli/test/agents/real/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          retry: RETRY,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['dashboard/e2e/**/*.test.ts'],
          globalSetup: ['cli/test/compiled.ts', 'server/test/built-service.ts', 'dashboard/e2e/harness/build.ts'],
          env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
          testTimeout: 60_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 10_000 } },
          retry: RETRY,
          // While one test waits for a page, another has the processor.
          maxWorkers: '100%',
        },
      },
    ],
    coverage: {
      provider: 'v8',
      reportsDirectory: 'artefacts/test/coverage',
      reporter: ['json-summary', 'html'],
      // The dashboard is proved by the tests in the browser.
      include: ['{contract,redact,server,cli}/**/*.ts'],
      exclude: ['**/*.test.ts', '**/test/**'],
      // A little below what is reached, so that a large piece without tests is noticed.
      thresholds: { lines: 90, branches: 80 },
    },
  },
});
