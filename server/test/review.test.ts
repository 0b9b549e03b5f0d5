import { playScenarios } from './scenarios.ts';
import { REVIEW_SCENARIOS } from './tables/review.ts';

playScenarios('derived data', REVIEW_SCENARIOS);
