import { LOGS } from './engines.ts';
import { playScenarios } from './scenarios.ts';
import { EVENTS } from './tables/events.ts';

playScenarios('events', EVENTS, LOGS);
