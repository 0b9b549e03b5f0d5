import { playScenarios } from './scenarios.ts';
import { INSTALLATIONS } from './tables/installations.ts';

playScenarios('installations', INSTALLATIONS);
