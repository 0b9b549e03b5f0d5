import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{contract,server,cli,dashboard,script}/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'dashboard/e2e/**'],
    globalSetup: ['server/test/postgres.ts'],
    testTimeout: 20_000,
  },
});
