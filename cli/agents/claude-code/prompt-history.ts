import type { JsonObject, PromptLine } from '../agent.ts';
import { isObject } from '../shared/part.ts';

/** Reads a line such as `{"display":"fix it","pastedContents":{},"timestamp":1794250000000,"project":"/home/ada/shop","sessionId":"…"}`. */
export function readPrompt({
  display,
  pastedContents,
  timestamp,
  project,
  sessionId,
}: JsonObject): PromptLine | undefined {
  // Without its session, nobody can say whether the prompt was captured.
  if (typeof display !== 'string' || typeof timestamp !== 'number' || typeof sessionId !== 'string') return undefined;
  return {
    session: sessionId,
    time: timestamp,
    text: withPasted(display, pastedContents),
    ...(typeof project === 'string' && { folder: project }),
  };
}

/** Longer texts that the person pasted stand apart. */
function withPasted(display: string, pasted: unknown): string {
  if (!isObject(pasted)) return display;
  return display.replace(/\[Pasted text #(\d{1,6})[^\]]{0,40}\]/g, (placeholder, number: string) => {
    const content = Object.hasOwn(pasted, number) ? pasted[number] : undefined;
    return isObject(content) && typeof content.content === 'string' ? content.content : placeholder;
  });
}
