import { playScenarios } from './scenarios.ts';
import { VISIBILITY } from './tables/visibility.ts';

playScenarios('who may see a session', VISIBILITY);
