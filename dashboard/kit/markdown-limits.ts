import { attention, labelStartImage, labelStartLink } from 'micromark-core-commonmark';
import type { Extension } from 'micromark-util-types';

/** Of asterisks, underscores and brackets that may begin or end something, in a piece of some thousand characters. */
const MOST_MARKERS = 1_000;

type Construct = typeof attention;

/** Keeps one parsing short: pairing markers takes time by the square of their number, so after many they are only text. */
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
