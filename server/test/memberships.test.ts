import { playScenarios } from './scenarios.ts';
import { MEMBERSHIPS } from './tables/memberships.ts';

playScenarios('memberships', MEMBERSHIPS);
