/** Every recorded story, in order. */
import type { Scenario } from './scenario.ts';
import { csvCommas } from './scenarios/csv-commas.ts';
import { flakyTest } from './scenarios/flaky-test/scenario.ts';
import { jsonOutput } from './scenarios/json-output.ts';
import { monthlyReport } from './scenarios/monthly-report.ts';
import { rateLimit } from './scenarios/rate-limit.ts';
import { usagePage } from './scenarios/usage-page.ts';

export const scenarios: Scenario[] = [flakyTest, rateLimit, usagePage, csvCommas, jsonOutput, monthlyReport];
