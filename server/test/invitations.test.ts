import { playScenarios } from './scenarios.ts';
import { INVITATIONS } from './tables/invitations.ts';

playScenarios('invitations', INVITATIONS);
