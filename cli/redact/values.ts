import { hasMark } from './mark.ts';
import type { NameStrength } from './names.ts';

/** Bits per character of the text's own letter distribution. */
export function measureEntropy(text: string): number {
  const counts = new Map<string, number>();
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Fills the place of a secret in documentation. */
const FILLER =
  /^[<[{(%$].*[>\]})%]$|^\$\{?[A-Za-z_]|\$\{|\{\{|<[^<>]*>|^%[A-Z_]+%$|^\*+|x{4,}|\.{3}|…|your|example|placeholder|change.?me|dummy|redacted|insert[-_]|process\.env|import\.meta|os\.environ|getenv|secrets\.|0{6,}/i;

/** Words that a real secret in running text hardly has in it. */
const MADE_UP =
  /password|passwd|^secret|secret$|^test|^foo|^bar|sample|replace|todo|fixme|fake|mock|env\.|0123456789|12345678|abcdef|do.?not.?use|^(?:(?:access|refresh|session|auth|bearer|token|key|api|abc|new|old|my|some|user)[-_.]?){1,3}\d{0,6}$/i;

const HARMLESS = new Set(
  'true false null none undefined nil yes no on off default localhost development production staging testing required optional string number boolean object unknown any secret token password bearer basic digest oauth apikey api-key hidden disabled enabled anonymous postgres mysql mongodb redis admin administrator root user guest username'.split(
    ' ',
  ),
);

/** Types and algorithms that carry a number: `Uint8Array`, `sha256Hex`, `ed25519Seed`. */
const TECHNICAL =
  /^(?:(?:big)?u?int|float|[uif]|ed|x|curve|secp|sha|aes|md|rsa|base|utf|oauth|openid|http|p|es|hs|rs)\d{1,5}[a-z_]*\d{0,3}[a-z_]*$/i;

/** What follows a quote that closed a text ending in `token=`: code. */
const CODE = /^[+,;)\]}?:]/;
/** What an unquoted value of code has in it. */
const OPERATOR = /\?\?|\?[\w.]+:/;
/** A regular expression. */
const PATTERN = /\(\?[:=!<]/;
/** `^2.14.1`: what a package with the name of a secret depends on. */
const VERSION = /^[~^<>=v]{0,2}\d{1,4}(?:\.\d{1,6}){1,3}(?:[-+][\w.-]{1,40})?$/;

/** Stands where a secret would, and is none: `<YOUR_API_KEY>`, `process.env.API_KEY`, `xxxxx`, `true`. */
export function isPlaceholder(value: string): boolean {
  return isFiller(value) || MADE_UP.test(value);
}

/** The same for a value that already looks like the secret of a certain provider. */
export function isFiller(value: string): boolean {
  if (HARMLESS.has(value.toLowerCase())) return true;
  return FILLER.test(value) || new Set(value).size < Math.min(4, value.length);
}

/**
 * `getToken`, `auth-token`, `user.name`, `AUTH_KEY`: words, joined the way code and prose join them. In a key made of
 * letters alone capitals are about as frequent as small letters; between words they are rare, or all there is.
 */
export function isWords(value: string): boolean {
  if (!/^[$@#._]?[A-Za-z][A-Za-z_.:/ -]*\d{0,2}$/.test(value)) return false;
  const capitals = value.replace(/[^A-Z]/g, '').length / value.replace(/[^A-Za-z]/g, '').length;
  return value.length < 16 || capitals < 0.3 || capitals > 0.8;
}

/** Letters and digits mixed, without blanks, and more variety than words have. */
export function looksRandom(value: string): boolean {
  if (value.length < 16 || !isGraphicAscii(value) || !hasDigitsAndLetters(value)) return false;
  if (isWords(value)) return false;
  return measureEntropy(value) >= (/^[0-9a-f-]+$/i.test(value) ? 2.8 : 3.4);
}

/** Whether the value of a name found in running text is a secret: code and prose name passwords all the time. */
export function isSecretInText(value: string, strength: NameStrength, shape: 'quoted' | 'bare' | 'variable'): boolean {
  if (value.length < 6 || hasMark(value) || isPlaceholder(value)) return false;
  if (/\s/.test(value) || CODE.test(value) || TECHNICAL.test(value)) return false;
  if (isReference(value) || isLocation(value) || PATTERN.test(value) || VERSION.test(value)) return false;
  if (shape !== 'quoted' && OPERATOR.test(value)) return false;
  if (strength === 'weak') return looksRandom(value);
  const mixed = hasDigitsAndLetters(value);
  if (shape === 'variable') return mixed || (value.length >= 8 && !HARMLESS.has(value.toLowerCase()));
  if (isWords(value)) return false;
  if (shape === 'quoted') return mixed || (value.length >= 10 && /[^\w.-]/.test(value));
  return mixed && value.length >= 8;
}

/** Whether a string that an object holds under a secret's name is one: here the name is no figure of speech. */
export function isSecretInField(value: string, strength: NameStrength): boolean {
  if (value.length < 4 || isFieldPlaceholder(value) || VERSION.test(value)) return false;
  if (strength === 'strong') return !isPlainSentence(value);
  // `pass`, `token` and `auth` are as often the name of a message, of a word in a grammar, of a setting.
  if (value.length < 8 || !isGraphicAscii(value) || isWords(value) || isLocation(value)) return false;
  return hasDigitsAndLetters(value) || (value.length >= 10 && /[^\w.:/-]/.test(value));
}

const hasDigitsAndLetters = (value: string) => /\d/.test(value) && /[A-Za-z]/.test(value);

/** Without blanks, and none of the letters that only languages use: tokens have neither. */
const isGraphicAscii = (value: string) => /^[!-~]+$/.test(value);

function isFieldPlaceholder(value: string): boolean {
  return (
    HARMLESS.has(value.toLowerCase()) ||
    /^(?:\$\{.*\}|\{\{.*\}\}|<[^>]*>|\[.*\]|\*+|x+|dummy|.*redacted.*|\$[A-Z_]+|process\.env\..*)$/i.test(value)
  );
}

/** A description of the field rather than its value. */
function isPlainSentence(value: string): boolean {
  return /^[A-Z]?[a-z']+(?: [A-Za-z'(),.-]+){3,}$/.test(value);
}

function isReference(value: string): boolean {
  return (
    /^[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*)+[;,)]*$/.test(value) || /^[A-Za-z_$][\w$.]*[([]/.test(value)
  );
}

function isLocation(value: string): boolean {
  return (
    /^(?:[a-z][a-z0-9+.-]*:\/\/|~?\.{0,2}\/[\w.-]*(?:\/|$)|[A-Za-z]:\\)/.test(value) ||
    /^[\w.-]+\/[\w.-]+\.[a-z]{1,4}$/.test(value)
  );
}
