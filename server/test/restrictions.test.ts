import { playScenarios } from './scenarios.ts';
import { RESTRICTIONS } from './tables/restrictions.ts';

playScenarios('restricting a session by its machine', RESTRICTIONS);
