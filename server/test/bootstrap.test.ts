import { playScenarios } from './scenarios.ts';
import { BOOTSTRAP } from './tables/bootstrap.ts';

playScenarios('bootstrap', BOOTSTRAP);
