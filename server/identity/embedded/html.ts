const TRUSTED = Symbol('trusted HTML');

/** HTML that is safe to send. Only `html` and `trusted` make it, so no text of a visitor can pass for it. */
export interface Html {
  readonly [TRUSTED]: string;
}

type Value = string | number | Html | readonly Html[] | undefined | false;

/** Template whose values are escaped, for text and for quoted attributes; nothing for undefined and false. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = strings.map((text, index) => text + render(values[index]));
  return trusted(parts.join(''));
}

/** Markup that another trusted part of the service made. */
export const trusted = (markup: string): Html => ({ [TRUSTED]: markup });

export const toText = (markup: Html): string => markup[TRUSTED];

function render(value: Value): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeText(String(value));
  if (isList(value)) return value.map(toText).join('');
  return toText(value);
}

const isList = (value: Html | readonly Html[]): value is readonly Html[] => Array.isArray(value);

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeText = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
