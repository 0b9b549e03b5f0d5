/**
 * Characters that change how text looks or hide in it: bidirectional controls, zero-width ones, other controls, lone
 * surrogates. A joiner inside an emoji is no such thing.
 */
const HIDDEN = new RegExp(
  [
    '[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e]',
    '[\\u200b\\u200c\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb]',
    '[\\u{e0000}-\\u{e007f}\\ud800-\\udfff]',
    '(?<![\\p{Extended_Pictographic}\\ufe0f\\p{Emoji_Modifier}])\\u200d',
  ].join('|'),
  'gu',
);

const MAY_HIDE = /[^\t\n\r\x20-\x7e]/;

/** The text with what hides in it written out, as in `⟨U+202E⟩`. */
export function showHidden(text: string): string {
  return MAY_HIDE.test(text) ? text.replace(HIDDEN, nameOf) : text;
}

const nameOf = (character: string) =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
