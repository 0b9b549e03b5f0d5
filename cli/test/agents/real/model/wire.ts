import { randomBytes } from 'node:crypto';
import type { Step } from '../../../../../script/record/scenario.ts';
import type { Usage } from '../../../../../script/record/tokens.ts';

/** The parts of a model's answer in wire formats without named events. */
export interface Answer {
  model: string;
  step: Step;
  usage: Usage;
  /** Sends a piece of the stream. */
  send: (data: object | string) => void;
}

export const id = (prefix: string): string => prefix + randomBytes(12).toString('hex');

export type Json = { [key: string]: unknown };

export const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
