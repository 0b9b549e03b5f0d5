import { playScenarios } from './scenarios.ts';
import { SEARCH_SCENARIOS } from './tables/search.ts';

playScenarios('search', SEARCH_SCENARIOS);
