import { LOGS } from './engines.ts';
import { playScenarios } from './scenarios.ts';
import { SESSIONS } from './tables/sessions.ts';

playScenarios('sessions', SESSIONS, LOGS);
