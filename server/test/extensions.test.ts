import { playScenarios } from './scenarios.ts';
import { EXTENSION_SCENARIOS } from './tables/extensions.ts';

playScenarios('extensions', EXTENSION_SCENARIOS);
