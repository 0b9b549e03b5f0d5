import type { Place, Search } from './places.ts';

/**
 * Finds a text that is written exactly like this, or with its letters and accents composed differently. The time depends only
 * on the length of the searched text (Knuth, Morris and Pratt), because neither text is trusted.
 */
export function createTextSearch(wanted: string): Search {
  const forms = [...new Set([wanted, wanted.normalize('NFC'), wanted.normalize('NFD')])];
  const searches = forms.map((form) => searchFor(form.replaceAll('\r\n', '\n')));
  return (text) => searches.flatMap((search) => search(text));
}

function searchFor(wanted: string): Search {
  const borders = bordersOf(wanted);
  const [first = ''] = wanted;
  return (text) => {
    const places: Place[] = [];
    let matched = 0;
    for (let at = text.indexOf(first); at !== -1 && at < text.length; at++) {
      while (matched > 0 && text.charCodeAt(at) !== wanted.charCodeAt(matched))
        matched = borders[matched - 1] as number;
      if (text.charCodeAt(at) === wanted.charCodeAt(matched)) matched++;
      if (matched === wanted.length) {
        places.push({ start: at + 1 - matched, end: at + 1 });
        matched = 0;
      }
      if (matched > 0) continue;
      const next = text.indexOf(first, at + 1);
      if (next === -1) break;
      at = next - 1;
    }
    return places;
  };
}

/** For each prefix of the text, the length of the longest shorter prefix that it ends with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  for (let at = 1, length = 0; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(at) !== text.charCodeAt(length)) length = borders[length - 1] as number;
    if (text.charCodeAt(at) === text.charCodeAt(length)) length++;
    borders[at] = length;
  }
  return borders;
}
