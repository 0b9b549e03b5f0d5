/** Every recorded story, in the order in which they are told. */
import type { Scenario } from './scenario.ts';
import { csvCommas } from './scenarios/csv-commas.ts';
import { flakyTest } from './scenarios/flaky-test/scenario.ts';

export const scenarios: Scenario[] = [flakyTest, csvCommas];
