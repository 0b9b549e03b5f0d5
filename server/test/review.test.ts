import { playScenarios } from './scenarios.ts';
import { REVIEW_SCENARIOS } from './tables/review.ts';

playScenarios('what is derived', REVIEW_SCENARIOS);
