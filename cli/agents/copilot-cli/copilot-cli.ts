import type { Agent, JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { headerOf, keyOf, toOrigin } from '../shared/identity.ts';
import { locate } from '../shared/locations.ts';
import { isObject, peekWords } from '../shared/part.ts';
import { parse } from './parse.ts';

/**
 * Copilot CLI writes a file per session, a record per line, append-only, in batches; `id` and `parentId` chain them. The
 * records of sub-agents are mixed with those of the session. For facts in several records, this table shows which record the
 * event is made from:
 *
 * | fact           | the event is made from                   | the others become                                     |
 * | -------------- | ---------------------------------------- | ----------------------------------------------------- |
 * | prompt         | `user.message`: `content`                | `context.message`: the same as it was sent to the model |
 * | tool call      | `assistant.message`: `toolRequests`      | `record`, kind `duplicate:tool.execution_start`       |
 * | tool result    | `tool.execution_complete`                | –                                                     |
 * | usage          | `session.usage_record` and `assistant.message`, which share a `responseId`       |
 * | hooks          | `hook.end` of one that failed or answered | `record`: half of all lines say that hooks ran       |
 */
export const copilotCli: Agent = {
  id: 'copilot-cli',
  displayName: 'Copilot CLI',
  programs: ['copilot'],
  ...locate({
    folder: '.copilot',
    movedBy: 'COPILOT_HOME',
    roots: ['session-state'],
    credentials: ['config.json'],
    credentialsAtHome: ['.config/github-copilot/apps.json', '.config/github-copilot/hosts.json'],
  }),
  // `<session>/events.jsonl`, before 1.0 `<session>.jsonl`. Files in deeper folders belong to the agent's work.
  isTranscript: (path) => /^([^/]+\/events|[^/]+)\.jsonl$/.test(path),
  endsSession: ({ type }) => type === 'session.shutdown',
  identify,
  plainRecords: ['assistant.turn_end', 'assistant.turn_start', 'hook.end', 'hook.start', 'session.usage_checkpoint'],
  recordKey: (record) => keyOf(record, 'id'),
  restored: {
    namesSubagent: true,
    stamp(record, { origin }, version) {
      if (!/^session\.(start|resume)$/.test(String(record.type)) || !isObject(record.data)) return record;
      const { data } = record;
      return {
        ...record,
        data: {
          ...data,
          ...(record.type === 'session.start' && !('sessionId' in data) && { sessionId: origin.session }),
          ...(record.type === 'session.start' &&
            version !== undefined &&
            !('copilotVersion' in data) && { copilotVersion: version }),
        },
      };
    },
    places: ({ data }) => [
      ...(isObject(data) && isObject(data.error) ? ['data.error.message'] : []),
      ...(isObject(data) && isObject(data.permissionRequest) ? ['data.permissionRequest.fullCommandText'] : []),
      ...['agentId', 'data.toolCallId', 'data.content', 'data.message', 'data.result.content', 'data.reasoningText'],
      ...['name', 'arguments', 'toolCallId'].map((name) => `data.toolRequests.*.${name}`),
    ],
  },
  parse,
};

function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const start = headerOf(first, 'session.start');
  const named = path.replace(/(\/events)?\.jsonl$/, '').replace(/^.*\//, '');
  return toOrigin({
    session: peekWords(start, 'data.sessionId') ?? named,
    agentVersion: peekWords(start, 'data.copilotVersion'),
    cwd: peekWords(start, 'data.context.cwd'),
    branch: peekWords(start, 'data.context.branch'),
  });
}
