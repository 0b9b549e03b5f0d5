import { playScenarios } from './scenarios.ts';
import { MEMBERS } from './tables/members.ts';

playScenarios('members', MEMBERS);
