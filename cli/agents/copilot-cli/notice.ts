import { notice, quiet, type Reader, type Readers } from '../reader.ts';
import type { Path } from '../remainder.ts';

const told = (kind: string, ...texts: Path[]): readonly [string, Reader] => [
  kind,
  notice(kind, ...texts.map((path) => ['data', ...path])),
];

const hushed = (kind: string): readonly [string, Reader] => [kind, quiet(kind)];

/** What the program told the person, and what it only noted. */
export const NOTICE_KINDS: Readers = [
  told('session.info', ['message']),
  told('session.warning', ['message']),
  told('session.task_complete', ['summary']),
  told('session.plan_changed', ['operation']),
  told('session.workspace_file_changed', ['path']),
  told('session.compaction_start'),
  told('session.truncation'),
  told('session.snapshot_rewind'),
  told('session.handoff', ['summary']),
  told('skill.invoked', ['name']),
  told('permission.requested', ['permissionRequest', 'fullCommandText'], ['permissionRequest', 'intention']),
  told('permission.completed', ['result', 'kind']),
  told('user_input.requested', ['question']),
  told('user_input.completed', ['answer']),
  told('elicitation.requested', ['message']),
  told('elicitation.completed', ['action']),
  told('command.queued', ['command']),
  told('command.execute', ['command']),
  told('command.completed'),
  told('exit_plan_mode.requested', ['summary']),
  told('exit_plan_mode.completed'),
  // A turn is one call of the model here, not what a prompt sets off.
  hushed('assistant.turn_start'),
  hushed('assistant.turn_end'),
  hushed('assistant.intent'),
  hushed('session.usage_checkpoint'),
  hushed('session.usage_info'),
  hushed('session.idle'),
];
