import { type Static, type TProperties, Type } from 'typebox';
import { OneOf } from '../contract/common.ts';

/**
 * The vocabulary of captured events: `eventType` → shape of `payload`.
 *
 * A payload has three parts. `source` and `occurredAt` are its origin and time. The fields of its type are for readers; they
 * use the names of OpenTelemetry's GenAI conventions if those have one. `rest` contains the remaining fields of the agent's
 * record. So every leaf value of a record is in exactly one place of its events.
 */

/** The origin of an event. Every captured payload has it. */
export const Source = Type.Object({
  agent: Type.String({ description: 'catalog id' }),
  agentVersion: Type.Optional(Type.String()),
  session: Type.String({ description: "the agent's own session id" }),
  record: Type.Optional(Type.String({ description: "the agent's own id of the record" })),
  parent: Type.Optional(Type.String({ description: "the agent's own id of the record before it" })),
  subagent: Type.Optional(Type.String({ description: 'id of the sub-agent whose transcript this is' })),
  file: Type.String({ description: "path below the agent's root" }),
  position: Type.Integer({ description: 'byte offset at which the record starts; a row number for databases' }),
  index: Type.Optional(
    Type.Integer({ description: 'index of the event in its record, from 0; absent if it is the only one' }),
  ),
  /**
   * Some agents write a record again while it grows. For each `record` of a session (and sub-agent), the events with the
   * highest revision are its current content. Among equal revisions, the one captured last counts. The current events take the
   * place of the first revision. All other events are the record's history.
   */
  revision: Type.Optional(
    Type.Integer({ description: 'set if the agent may write the record again: the highest revision counts' }),
  ),
});
export type Source = Static<typeof Source>;

const Payload = <Properties extends TProperties>(properties: Properties) =>
  Type.Object({
    source: Source,
    occurredAt: Type.Optional(Type.String({ description: "the agent's own timestamp, in its own form" })),
    ...properties,
    rest: Type.Optional(Type.Unknown({ description: 'the rest of the record' })),
    redactions: Type.Optional(Type.Record(Type.String(), Type.Integer(), { description: 'rule id → secrets masked' })),
  });

const text = Type.String();
const optionalText = Type.Optional(Type.String());
const optionalCount = Type.Optional(Type.Integer());

export const VOCABULARY = {
  /** Facts about the session: title, folder, branch, model, mode. Later facts add to earlier ones and replace them. */
  'session.meta': Payload({
    title: optionalText,
    /** A title from a person is not replaced by one that the agent invents and repeats at every start. */
    titleBy: Type.Optional(OneOf(['person', 'agent'])),
    cwd: optionalText,
    repository: optionalText,
    branch: optionalText,
    commit: optionalText,
    model: optionalText,
    tier: Type.Optional(Type.String({ description: 'service tier of the responses that follow and name none' })),
    forkedFrom: Type.Optional(Type.String({ description: "the agent's id of the session this one was forked from" })),
  }),
  /** The text that a person typed. */
  'user.message': Payload({ text: optionalText, images: optionalCount }),
  /** Text that the agent's program put before the model: environment, reminders, instructions, expanded commands. */
  'context.message': Payload({ text: optionalText, kind: optionalText }),
  /** The model's message. */
  'assistant.message': Payload({ text, model: optionalText, messageId: optionalText }),
  /** The model's reasoning, as far as the agent shows it. `text` may be empty if the reasoning is encrypted. */
  'assistant.reasoning': Payload({ text, model: optionalText, messageId: optionalText }),
  /** The model calls a tool. `input` has the agent's form: an object, or text that may be JSON. */
  'tool.call': Payload({ callId: optionalText, name: text, input: Type.Optional(Type.Unknown()), model: optionalText }),
  /** The tool's result. `output` is text or content blocks; `detail` is the agent's structured copy. */
  'tool.result': Payload({
    callId: optionalText,
    name: optionalText,
    output: Type.Optional(Type.Unknown()),
    isError: Type.Optional(Type.Boolean()),
    exitCode: Type.Optional(Type.Integer()),
    durationMs: Type.Optional(Type.Number()),
    detail: Type.Optional(Type.Unknown()),
  }),
  /**
   * Tokens of one model response, and the terms that decide their price. An agent may report a response several times: the largest
   * figures per `responseId` count. Responses for an advisor, a compaction or a title are responses, too.
   */
  usage: Payload({
    responseId: optionalText,
    model: optionalText,
    purpose: Type.Optional(
      Type.String({
        description: "`advisor`, `compaction`, `summary`, `title`, …; absent: the response is the session's own answer",
      }),
    ),
    inputTokens: Type.Optional(Type.Integer({ description: 'as counted by the agent; see cacheReadTokens' })),
    outputTokens: optionalCount,
    cacheReadTokens: optionalCount,
    cacheWriteTokens: optionalCount,
    cacheWrite1hTokens: Type.Optional(
      Type.Integer({ description: 'the part of `cacheWriteTokens` that is kept for one hour' }),
    ),
    reasoningTokens: optionalCount,
    totalTokens: optionalCount,
    /** `excluded`: cached tokens come on top of `inputTokens` (Anthropic); `included`: they are part of it (OpenAI). */
    cached: Type.Optional(OneOf(['excluded', 'included'])),
    webSearches: Type.Optional(Type.Integer({ description: 'searches that the vendor ran for the response' })),
    speed: Type.Optional(Type.String({ description: '`fast`; absent: normal' })),
    tier: Type.Optional(Type.String({ description: '`priority`, `flex` or `batch`; absent: normal' })),
    region: Type.Optional(Type.String({ description: 'the place of inference as the vendor writes it, such as `us`' })),
  }),
  /** A summary replaced the conversation so far. */
  compaction: Payload({ summary: optionalText, trigger: optionalText, tokensBefore: optionalCount }),
  /** A sub-agent started. Its own events contain `source.subagent`. */
  'subagent.started': Payload({
    subagent: text,
    callId: optionalText,
    agentType: optionalText,
    description: optionalText,
    prompt: optionalText,
  }),
  'subagent.finished': Payload({ subagent: text, callId: optionalText, result: Type.Optional(Type.Unknown()) }),
  /** The turn ended or was interrupted. */
  'turn.finished': Payload({ reason: optionalText, durationMs: Type.Optional(Type.Number()) }),
  /** A message of the agent's program to the person. */
  notice: Payload({ text: optionalText, kind: optionalText, level: optionalText }),
  /** Something went wrong in the agent or its model. */
  error: Payload({ text: optionalText, kind: optionalText }),
  /** A record of a kind that the parser does not know: all of it is in `rest`. */
  record: Payload({ kind: optionalText }),
  /** Bytes that are not a record: `raw` is the text, or base64 if it is not UTF-8. */
  unreadable: Payload({ raw: text, encoding: OneOf(['utf8', 'base64']), reason: text }),
};

export type Vocabulary = { [Name in keyof typeof VOCABULARY]: Static<(typeof VOCABULARY)[Name]> };
export type CapturedType = keyof Vocabulary;

/** An event in the form in which a parser creates it. */
export type CapturedEvent = {
  [Name in CapturedType]: { eventType: Name; payload: Vocabulary[Name] };
}[CapturedType];
