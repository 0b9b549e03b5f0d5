import { playScenarios } from './scenarios.ts';
import { SESSIONS } from './tables/sessions.ts';

playScenarios('sessions', SESSIONS);
