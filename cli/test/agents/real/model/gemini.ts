import { type Answer, id, type Json, list } from './wire.ts';

/** The streaming Gemini wire format. */
export function answerGemini({ model, step, usage, send }: Answer): void {
  const usageMetadata = {
    promptTokenCount: usage.context,
    candidatesTokenCount: usage.output,
    cachedContentTokenCount: usage.cached,
    totalTokenCount: usage.context + usage.output,
  };
  const piece = (parts: object[], finishReason?: string) =>
    send({
      candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
      usageMetadata,
      modelVersion: model,
      responseId: id(''),
    });
  piece([{ text: step.say }]);
  const calls = (step.calls ?? []).map(({ tool, input }) => ({
    functionCall: { id: id('fc'), name: tool, args: input },
  }));
  piece(calls.length > 0 ? calls : [{ text: '' }], 'STOP');
}

const parts = (content: Json | undefined): Json[] => list(content?.parts);

export const readGemini = (body: Json) => ({
  tools: list(body.tools).flatMap((tool) => list(tool.functionDeclarations).map(({ name }) => String(name))),
  texts: list(body.contents)
    .filter(({ role }) => role === 'user')
    .map((content) => JSON.stringify(parts(content))),
  isAnswered: parts(list(body.contents).at(-1)).some(({ functionResponse }) => functionResponse !== undefined),
});
