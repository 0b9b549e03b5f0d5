import { describe, expect, test } from 'vitest';
import { createAssignmentReader, NAME_KEYWORDS } from './assignments.ts';
import { createKeywordScanner } from './keywords.ts';
import { createNameReader, PASSWORD_ELSEWHERE, PASSWORD_WORDS } from './names.ts';
import { JOINED_VERBS, NEAR_VERBS, PURPOSES, SEPARATORS, type Separator, VERBS } from './separators.ts';
import { createTableReader } from './tables.ts';
import { made, makeExample } from './test/made.ts';

const scan = createKeywordScanner(NAME_KEYWORDS);

/** The values that are masked if only these separators count. */
function find(text: string, separators: readonly Separator[] = SEPARATORS): string[] {
  const readName = createNameReader();
  const read = createAssignmentReader(readName, createTableReader(readName), separators);
  const found: string[] = [];
  const visit = (start: number, end?: number) => {
    for (const place of read(text, start, end)) found.push(text.slice(place.start, place.end));
  };
  scan(text, (_keyword, start) => visit(start));
  for (const { index, 0: name } of text.matchAll(PASSWORD_ELSEWHERE)) visit(index, index + name.length);
  return found;
}

/** Generated letters. A found value must be exactly one of these runs. */
const MADE = /<(?:alnum|strong|hex) /;

test.each(SEPARATORS.map((row, index) => [index, row] as const))(
  'row %i finds its examples by itself',
  (_index, row) => {
    expect(row.yes.length).toBeGreaterThan(0);
    expect(row.no.length).toBeGreaterThan(0);
    expect(row.yes.filter((example) => !MADE.test(example))).toEqual([]);
    expect(row.yes.filter((example) => find(makeExample(example), [row]).length === 0)).toEqual([]);
    expect(row.no.filter((example) => find(makeExample(example), [row]).length > 0)).toEqual([]);
  },
);

const SECRET = `k7${made('strong', 10)}`;

describe('words of a sentence', () => {
  test.each(NEAR_VERBS)('the password %s …', (verb) =>
    expect(find(`the password ${verb} ${SECRET}`)).toEqual([SECRET]),
  );
  test.each(JOINED_VERBS)('密码%s…', (verb) => expect(find(`密码${verb}${SECRET}`)).toEqual([SECRET]));
  test.each(VERBS)('the password of the new shop %s …', (verb) =>
    expect(find(`the password of the new shop ${verb} ${SECRET}`)).toEqual([SECRET]),
  );
  test.each(PURPOSES)('password %s robin: …', (purpose) =>
    expect(find(`password ${purpose} robin: ${SECRET}`)).toEqual([SECRET]),
  );
});

describe('a value before its name', () => {
  const value = `${SECRET}#4`;
  test.each([
    `use ${value} as the admin password`,
    `assertEquals("${value}", config.getPassword());`,
    `if ("${value}".equals(password))`,
    `if ("${value}" == config.password)`,
  ])('%s', (text) => expect(find(text)).toEqual([value]));
  test.each([
    'assertEquals("password1", config.getPassword());',
    'if ("basic" == config.password)',
    'label("getPassword"), password',
  ])('%s', (text) => expect(find(text)).toEqual([]));
});

test('a name that leaves out its last word', () => {
  const secret = `k7${made('alnum', 24)}`;
  expect(find(`SHODAN_API=${secret}`)).toEqual([secret]);
  expect(find('SHODAN_API=https://api.shodan.test/v1')).toEqual([]);
});

/** The word for password in other languages, as people write it. Each spelling in `names.ts` has a line. */
const ELSEWHERE = [
  'Passwort',
  'Kennwort',
  'mot de passe',
  'mot_de_passe',
  'contraseña',
  'contrasena',
  'contrasenya',
  'contrasea',
  'senha',
  'wachtwoord',
  'parola',
  'passord',
  'lösenord',
  'losenord',
  'adgangskode',
  'salasana',
  'heslo',
  'jelszó',
  'kata_sandi',
  'haslo',
  'sifre',
  'Пароль',
  'пароля',
  'паролі',
  'паролю',
  'пароле',
  'лозинка',
  'гасло',
  '密码',
  '密碼',
  '口令',
  'パスワード',
  '暗証番号',
  '비밀번호',
  '암호',
  'รหัสผ่าน',
  'पासवर्ड',
  'סיסמה',
  'סיסמא',
  'كلمة المرور',
  'كلمة السر',
  'κωδικός',
];
/** These are only recognised in JSON, since a text with their letters is not searched: see docs/redaction.md. */
const IN_FIELDS = ['hasło', 'şifre', 'haslo', 'sifre', 'mật_khẩu'];

describe('names in other languages', () => {
  const inText = ELSEWHERE.filter((name) => !IN_FIELDS.includes(name));
  test.each(inText)('%s: …', (name) => expect(find(`${name}: ${SECRET}`)).toEqual([SECRET]));

  test('each alternative has a line', () => {
    const names = [...ELSEWHERE, ...IN_FIELDS].map((name) => name.toLowerCase().replaceAll(' ', '_'));
    const alternatives = [PASSWORD_WORDS, PASSWORD_ELSEWHERE.source].flatMap((source) => source.split(/\|(?![^(]*\))/));
    const unused = alternatives.filter((each) => !names.some((name) => new RegExp(`(?:${each})$`, 'i').test(name)));
    expect(unused).toEqual([]);
  });
});
