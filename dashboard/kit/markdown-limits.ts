import { attention, labelStartImage, labelStartLink } from 'micromark-core-commonmark';
import type { Extension } from 'micromark-util-types';

/** The most asterisks, underscores and brackets that may open or close an element in a piece of some thousand characters. */
const MOST_MARKERS = 1_000;

type Construct = typeof attention;

/**
 * Limits the time to parse a piece. Pairing markers takes time with the square of their number, so after many they are plain
 * text.
 */
export function limitMarkers(): Extension {
  let count = 0;
  const limited = (construct: Construct): Construct => ({
    ...construct,
    name: `${construct.name}Limited`,
    tokenize(effects, ok, nok) {
      return ++count > MOST_MARKERS ? nok : construct.tokenize.call(this, effects, ok, nok);
    },
  });
  const emphasis = limited(attention);
  return {
    text: { 33: limited(labelStartImage), 42: emphasis, 91: limited(labelStartLink), 95: emphasis },
    disable: { null: [attention, labelStartImage, labelStartLink].flatMap(({ name }) => name ?? []) },
  };
}
