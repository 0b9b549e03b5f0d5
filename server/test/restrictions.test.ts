import { playScenarios } from './scenarios.ts';
import { RESTRICTIONS } from './tables/restrictions.ts';

playScenarios('what a machine asks for its sessions', RESTRICTIONS);
