import { playScenarios } from './scenarios.ts';
import { ENVIRONMENTS } from './tables/environments.ts';

playScenarios('environments', ENVIRONMENTS);
