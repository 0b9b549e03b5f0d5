import { playScenarios } from './scenarios.ts';
import { VISIBILITY } from './tables/visibility.ts';

playScenarios('changing the visibility of a session', VISIBILITY);
