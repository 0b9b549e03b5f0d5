import { randomBytes } from 'node:crypto';
import type { Usage } from './tokens.ts';

export interface Call {
  tool: string;
  input: Record<string, unknown>;
}

/** One answer of the model: everything it says and calls before it needs the results. */
export interface Step {
  say: string;
  calls?: readonly Call[];
}

interface Parts {
  model: string;
  step: Step;
  usage: Usage;
}

/** The parts of a model's answer in wire formats without named events. */
export interface Answer extends Parts {
  /** Sends a piece of the stream. */
  send: (data: object | string) => void;
}

/** The same in wire formats whose events have names. */
export interface NamedAnswer extends Parts {
  send: (type: string, data: object) => void;
}

export const id = (prefix: string): string => prefix + randomBytes(12).toString('hex');

export type Json = { [key: string]: unknown };

export const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** A text in pieces of a few words, as a model streams it. */
export const words = (text: string): string[] => text.match(/(\S+\s*){1,6}|\s+/g) ?? [text];
