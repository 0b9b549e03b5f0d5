import { playScenarios } from './scenarios.ts';
import { ORGANIZATIONS } from './tables/organizations.ts';

playScenarios('organizations', ORGANIZATIONS);
