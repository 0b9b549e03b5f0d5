import { playScenarios } from './scenarios.ts';
import { SECRETS } from './tables/secrets.ts';

playScenarios('secrets', SECRETS);
