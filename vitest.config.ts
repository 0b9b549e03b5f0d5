import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { patience, SEED } from './contract/test/runs.ts';
import { CHROMIUM } from './dashboard/e2e/harness/chromium.ts';
import { builtThreads } from './test/built-service.ts';

/** Node's compile cache for the programs that tests start. It halves their start time. */
const COMPILE_CACHE = join(import.meta.dirname, 'artefacts/compiled');

/** Continuous integration may be busy, so it retries a failed test once, with the same seed; the report says so. */
const RETRY = process.env.CI === undefined ? 0 : 1;

/**
 * Files that `script/test` leaves out without `--all`. Each takes more than four seconds: its tests kill programs again and
 * again, move whole stores, or read megabytes. The runner's option --exclude does not apply to projects.
 */
const LEFT_OUT = process.env.CAPTURE_TEST_SLOW === 'no' ? ['**/*.slow.test.ts'] : [];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        plugins: [builtThreads()],
        test: {
          name: 'unit',
          include: ['{contract,transcript,redact,server,cli,dashboard,script,faults,test}/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'dashboard/e2e/**', 'cli/test/agents/real/**', ...LEFT_OUT],
          globalSetup: [
            'contract/test/temporary.ts',
            'test/compiled.ts',
            'test/built-service.ts',
            'test/postgres.ts',
            'test/nats.ts',
          ],
          setupFiles: ['script/check/usage.ts'],
          // The limit is for tests that hang. A test that is slow on a busy machine must not fail.
          testTimeout: patience(180_000),
          hookTimeout: 180_000,
          expect: { poll: { timeout: 60_000 } },
          retry: RETRY,
          // Use all processors: by default the runner would reserve one, although it has little work.
          maxWorkers: '100%',
          // A separate process for each of the 150 files would load everything again, which would be a fifth of all the work.
          isolate: false,
          env: {
            CAPTURE_TEST_SEED: String(SEED),
            NODE_COMPILE_CACHE: COMPILE_CACHE,
            TMPDIR: join(tmpdir(), `capture-tests-${process.pid}`),
          },
        },
      },
      {
        // The built components in a browser; the tests make the answers of the service.
        extends: 'dashboard/vite.config.ts',
        cacheDir: join(import.meta.dirname, 'artefacts/vite'),
        // If Vite discovers a package while tests run, it reloads their document.
        optimizeDeps: { force: true, entries: ['dashboard/kit/highlight-worker.ts'] },
        test: {
          name: 'component',
          include: ['**/*.test.tsx'],
          setupFiles: [join(import.meta.dirname, 'dashboard/test/setup.ts')],
          testTimeout: 30_000,
          expect: { poll: { timeout: 10_000 } },
          retry: RETRY,
          // The document is loaded once, and each test removes what it mounted.
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
          testTimeout: 300_000,
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
          exclude: ['**/node_modules/**', ...LEFT_OUT],
          globalSetup: [
            'test/compiled.ts',
            'test/built-service.ts',
            'dashboard/e2e/harness/build.ts',
            'dashboard/e2e/harness/shared.ts',
          ],
          env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
          testTimeout: 60_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 10_000 } },
          retry: RETRY,
          // While one test waits for a page, another one uses the processor.
          maxWorkers: '100%',
        },
      },
    ],
    coverage: {
      provider: 'v8',
      reportsDirectory: 'artefacts/test/coverage',
      reporter: ['json-summary', 'html'],
      // The browser tests cover the dashboard.
      include: ['{contract,transcript,redact,server,cli}/**/*.ts'],
      exclude: ['**/*.test.ts', '**/test/**'],
      // Slightly below the current coverage, so that a large piece of untested code fails the run.
      thresholds: { lines: 90, branches: 80 },
    },
  },
});
