import { type Rule, rule } from './rule.ts';

/**
 * Private keys and signed tokens. The body of a key may be wrapped, numbered (`cat -n`), indented, quoted with `>` or `+`, or
 * written as JSON with `\n`, escaped once or twice. Its last line may also have been cut off.
 */
export const KEYS: readonly Rule[] = [
  rule(
    'private-key',
    ['-----begin'],
    /-----BEGIN[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?=(?:[^-]|-(?!-)){0,240}[A-Za-z0-9+/=]{32})/,
    {
      inside: true,
      extent: 'lines',
      yes: [
        '-----BEGIN RSA PRIVATE KEY-----\n<base64 64 0>\n<base64 64>\n<base64 64 2>\n<base64 64 3>\n-----END RSA PRIVATE KEY-----',
        '-----BEGIN OPENSSH PRIVATE KEY-----\\n<base64 64 0>\\n<base64 64>\\n<base64 64 2>\\n<base64 64 3>\\n-----END OPENSSH PRIVATE KEY-----',
        '-----BEGIN PRIVATE KEY-----\\\\n<base64 64 0>\\\\n<base64 64>\\\\n<base64 64 2>\\\\n<base64 64 3>\\\\n-----END PRIVATE KEY-----',
        '-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n<base64 64 0>\n<base64 64>\n<base64 64 2>\n<base64 64 3>\n=abCD\n-----END PGP PRIVATE KEY BLOCK-----',
        '-----BEGIN EC PRIVATE KEY-----\n<base64 64 0>\n<base64 64 1>\n<base64 64 2>\n<base64 64 3>',
      ],
      no: [
        '-----BEGIN PUBLIC KEY-----\n<base64 64 0>\n<base64 64>\n<base64 64 2>\n<base64 64 3>\n-----END PUBLIC KEY-----',
        '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
        'starts with -----BEGIN PRIVATE KEY-----',
      ],
    },
  ),
  rule('private-key-end', ['-----end'], /-----END[A-Z0-9 ]{0,30}PRIVATE KEY/, {
    inside: true,
    extent: 'lines-before',
    yes: [
      '<base64 64 0>\n<base64 64 1>\n<base64 64 2>\n<base64 64 3>\n<base64 20>=\n-----END RSA PRIVATE KEY-----',
      '<base64 20>\\n<base64 64>\\n-----END PRIVATE KEY-----',
    ],
    no: [
      '-----END PRIVATE KEY-----',
      '-----BEGIN PUBLIC KEY-----\n<base64 64 0>\n<base64 64>\n<base64 64 2>\n<base64 64 3>\n-----END PUBLIC KEY-----',
    ],
  }),
  rule(
    'encoded-private-key',
    ['ls0tls1crudjti'],
    /LS0tLS1CRUdJTi(?:BQUklW|BSU0Eg|BFQyBQ|BPUEVO|BEU0Eg|BFTkNS|BQR1AgUFJJ)[A-Za-z0-9+/]{24,20000}={0,2}/,
    {
      extent: 'lines',
      yes: [
        '<encode -----BEGIN PRIVATE KEY-----\n<base64 64 0>\n<base64 64 1>\n<base64 64 2>\n<base64 64 3>>',
        '<encode -----BEGIN RSA PRIVATE KEY-----\n<base64 64 0>\n<base64 64 1>\n<base64 64 2>\n<base64 64 3>>',
      ],
      no: '<encode -----BEGIN CERTIFICATE-----\n<base64 64>\n-----END CERTIFICATE----->',
    },
  ),
  rule(
    'private-key',
    ['---- begin ssh2'],
    /---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----[^\0]{40,6000}?---- END SSH2 (?:ENCRYPTED )?PRIVATE KEY ----/,
    {
      inside: true,
      yes: '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "rsa-2048"\n<base64 70>\n<base64 70 2>\n---- END SSH2 ENCRYPTED PRIVATE KEY ----',
      no: '---- BEGIN SSH2 PUBLIC KEY ----\n<base64 70>\n---- END SSH2 PUBLIC KEY ----',
    },
  ),
  rule('private-key', ['<rsakeyvalue>'], /<RSAKeyValue>(?=[^\0]{0,1200}?<P>)([^\0]{80,6000}?)<\/RSAKeyValue>/, {
    inside: true,
    yes: '<RSAKeyValue><Modulus><base64 344></Modulus><Exponent>AQAB</Exponent><P><base64 172></P><D><base64 344></D></RSAKeyValue>',
    no: '<RSAKeyValue><Modulus><base64 344></Modulus><Exponent>AQAB</Exponent></RSAKeyValue>',
  }),
  rule(
    'tink-key',
    ['google.crypto.tink.'],
    /google\.crypto\.tink\.\w{3,60}\\{0,3}",\s{0,24}\\{0,3}"value\\{0,3}" ?: ?\\{0,3}"([\w+/=-]{16,4000})\\{0,3}",\s{0,24}\\{0,3}"keyMaterialType\\{0,3}" ?: ?\\{0,3}"(?!ASYMMETRIC_PUBLIC|REMOTE)/,
    {
      inside: true,
      entropy: 3,
      yes: '"typeUrl":"type.googleapis.com/google.crypto.tink.AesGcmKey","value":"<base64 26>","keyMaterialType":"SYMMETRIC"',
      no: '"typeUrl":"type.googleapis.com/google.crypto.tink.EcdsaPublicKey","value":"<base64 90>","keyMaterialType":"ASYMMETRIC_PUBLIC"',
    },
  ),
  // The body without its frame, as in settings and dumps: PKCS #8 and #1 of RSA, PKCS #12, and of elliptic curves and
  // OpenSSH.
  rule(
    'private-key-body',
    ['ibadanbgkqhkig9w0baqefaasc', 'ibaakca', 'ibaakbgq', 'ibazcc'],
    /MII[A-Za-z0-9+/]{3}(?:IBADANBgkqhkiG9w0BAQEFAASC|IBAAK(?:CA|BgQ)|IBAzCC)[A-Za-z0-9+/]{20,20000}={0,2}/,
    {
      lead: 6,
      extent: 'lines',
      yes: [
        'key = MIIEvQIBADANBgkqhkiG9w0BAQEFAASC<base64 1500>=',
        'MIIEpAIBAAKCAQEA<base64 48>\n<base64 64>\n<base64 64 2>',
        'MIICXAIBAAKBgQ<base64 600>',
      ],
      no: ['MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A<base64 360>', 'IBAAKCA'],
    },
  ),
  rule(
    'private-key-body',
    ['mhccaqee', 'mighageambmgbyqgsm49', 'migeageambagbyqgsm49', 'mc4caqawbqydk2vwbcie', 'b3blbnnzac1rzxktdjea'],
    /(?:MHcCAQEEI|MIGHAgEAMBMGByqGSM49|MIGEAgEAMBAGByqGSM49|MC4CAQAwBQYDK2VwBCIE|b3BlbnNzaC1rZXktdjEA)[A-Za-z0-9+/]{30,20000}={0,2}/,
    {
      extent: 'lines',
      yes: ['MHcCAQEEI<base64 155>', 'MC4CAQAwBQYDK2VwBCIE<base64 44>', 'b3BlbnNzaC1rZXktdjEA<base64 50>\n<base64 70>'],
      no: ['MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE<base64 86>', 'MHcCAQEE'],
    },
  ),
  rule('putty-key', ['private-lines:'], /Private-Lines: \d{1,4}((?:[A-Za-z0-9+/=\r\n]|\\[nr]){40,16000})/i, {
    yes: 'Private-Lines: 4\n<base64 64 0>\n<base64 64>\n<base64 64 2>\n<base64 64 3>\nPrivate-MAC: 1',
    no: 'Private-Lines: 4',
  }),
  rule('json-web-token', ['eyj'], /eyJ[\w-]{12,600}\.[\w-]{12,8000}(?:\.[\w-]{0,1500})?/, {
    entropy: 3.8,
    yes: 'eyJ<url 33>.eyJ<url 80>.<url 43>',
    no: 'eyJ<url 33>',
  }),
  rule(
    'encrypted-web-token',
    ['eyj'],
    /eyJ[\w-]{30,600}\.[\w-]{0,1000}\.[\w-]{16}\.[\w-]{20,8000}\.[\w-]{22}(?![\w-])/,
    { entropy: 4, yes: 'eyJ<url 60>.<url 342>.<url 16>.<url 120>.<url 22>', no: 'eyJ.a.b' },
  ),
  rule(
    'password-hash',
    ['$2[abxy]$', '$1$', '$5$', '$6$', '$y$', '$argon2', '$apr1$'],
    /\$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|(?:[156]|apr1)\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}|y\$[./A-Za-z0-9]{1,20}\$[./A-Za-z0-9]{1,90}\$[./A-Za-z0-9]{43}|argon2(?:id?|d)\$v=\d{1,3}\$[a-z0-9=,]{5,60}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,120})(?![./A-Za-z0-9])/,
    {
      inside: true,
      yes: ['ada:$2b$12$<alnum 53>', 'root:$6$<alnum 16>$<alnum 86>:19000:0', '$1$abcdefgh$<alnum 22>'],
      no: ['replace("$1$2")', '$2b$12$salt'],
    },
  ),
  // The formats that hashcat lists: Kerberos, Cisco, phpass, Django, LDAP, PBKDF2.
  rule(
    'password-hash',
    [
      '$krb5',
      '$8$',
      '$9$',
      '$p$',
      '$h$',
      '$pbkdf2',
      'pbkdf2_sha',
      '{ssha',
      '$7$',
      '$sha1$',
      '$scrypt$',
      '$ml$',
      '$dcc2$',
    ],
    /(?:\$krb5(?:asrep|tgs|pa)\$[^\s"'`]{30,8000}|\$[89]\$[./A-Za-z0-9]{14}\$[./A-Za-z0-9]{43}|\$[PH]\$[./A-Za-z0-9]{31}|\$pbkdf2(?:-sha\d{1,3})?\$\d{1,7}\$[./A-Za-z0-9+]{8,100}\$[./A-Za-z0-9+=]{20,120}|pbkdf2_sha\d{1,3}\$\d{4,8}\$[A-Za-z0-9]{8,40}\$[A-Za-z0-9+/]{43,86}={0,2}|\{SSHA\d{0,3}\}[A-Za-z0-9+/]{32,130}={0,2}|\$(?:7|scrypt)\$[./A-Za-z0-9$=,+]{60,200}|\$sha1\$\d{3,8}\$[./A-Za-z0-9]{6,64}\$[./A-Za-z0-9]{28}|\$ml\$\d{3,7}\$[a-f0-9]{64}\$[a-f0-9]{128,256}|\$DCC2\$\d{3,7}#[^#\s]{1,64}#[a-f0-9]{32})(?![./A-Za-z0-9])/i,
    {
      inside: true,

      yes: [
        '$krb5asrep$23$ada@X.TEST:<hex 32>$<hex 400>',
        '$krb5tgs$23$*svc$X.TEST$x/y*$<hex 32>$<hex 400>',
        '$8$<alnum 14>$<alnum 43>',
        '$P$B<alnum 30>',
        'pbkdf2_sha256$260000$<alnum 22>$<base64 43>=',
        'userPassword: {SSHA}<base64 32>',
      ],
      no: ['$8$', '$p$name', 'pbkdf2_sha256(password)', '{SSHA}'],
    },
  ),
  rule(
    'seed-phrase',
    ['mnemonic', 'seed phrase', 'seed_phrase', 'seedphrase', 'recovery phrase', 'recovery_phrase'],
    /(?:mnemonic|(?:seed|recovery)[ _]?phrase)\\?["']? ?[:=] ?\\?["']?(?![a-z ]{0,220}(?: [a-z]{1,2} |[a-z]{9}))([a-z]{3,8} [a-z ]{50,220}[a-z])/i,
    {
      inside: true,
      yes: 'MNEMONIC="orbit canyon velvet ladder puzzle tiger frost anchor meadow silver copper lunar"',
      no: [
        'mnemonic: every good boy does fine',
        'seed phrase = twelve words that nobody but you may ever see or read at all',
      ],
    },
  ),
  // Wallets and authenticators show them as a list: `1. orbit 2. canyon …`.
  rule(
    'seed-phrase',
    ['mnemonic', 'seed phrase', 'seed_phrase', 'seedphrase', 'seed words', 'recovery phrase', 'recovery_phrase'],
    /mnemonic|(?:seed|recovery)[ _]?phrase|seed words/i,
    {
      inside: true,
      extent: 'words',
      yes: [
        'Your seed phrase: 1. orbit 2. canyon 3. velvet 4. ladder 5. puzzle 6. tiger 7. frost 8. anchor 9. meadow 10. silver 11. copper 12. lunar',
        'mnemonic (keep it safe)\n 1) orbit\n 2) canyon\n 3) velvet\n 4) ladder\n 5) puzzle\n 6) tiger\n 7) frost\n 8) anchor\n 9) meadow\n10) silver\n11) copper\n12) lunar',
      ],
      no: [
        'The seed phrase has 12 words: 1. write them down 2. keep them apart',
        '1. orbit 2. canyon 3. velvet 4. ladder 5. puzzle 6. tiger 7. frost 8. anchor 9. meadow 10. silver 11. copper 12. lunar',
      ],
    },
  ),
  rule(
    'recovery-codes',
    ['recovery code', 'recovery_code', 'recoverycode', 'backup code', 'backup_code', 'backupcode', 'scratch code'],
    /(?:recovery|backup|scratch)[ _]?codes/i,
    {
      inside: true,
      extent: 'codes',
      entropy: 3,
      yes: [
        'Recovery codes:\n<hex 5>-<hex 5 2>\n<hex 5 3>-<hex 5 4>\n<hex 5 5>-<hex 5 6>\n<hex 5 7>-<hex 5 8>',
        '"recovery_codes": ["k7<alnum 6>", "k7<alnum 6 2>", "k7<alnum 6 3>", "k7<alnum 6 4>"]',
        'Your backup codes\n1. 4821 9034\n2. 7716 2205\n3. 9153 6482\n4. 3390 1574',
      ],
      no: [
        'recovery codes: one-time sign-in second-factor well-known codes',
        'Backup codes are hashed with sha256, 10 of them.',
        'The backup code of 2024-05-01 was replaced.',
        'recovery codes xxxx-xxxx xxxx-xxxx xxxx-xxxx xxxx-xxxx 1',
      ],
    },
  ),
];
