import { expect, test } from 'vitest';
import { redactOne } from '../../cli/test/redacting.ts';
import { createRedactor } from '../redactor.ts';
import { made, madeUuid } from './made.ts';

const redactor = createRedactor({ key: new Uint8Array(32) });
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };
let sessions = 0;

function redact(output: unknown): string {
  // Each call has its own session, so that no call masks the secrets of another.
  const subject = { session: `codex ${++sessions}` };
  return JSON.stringify(
    redactOne(redactor, { eventType: 'tool.result', payload: { source, output } }, subject).payload,
  );
}

const password = `${made('alnum', 9, 5)}7K`;
const token = made('alnum', 22, 11);
const hex = made('hex', 32, 3);

/** Texts that people and agents write every day. `§` marks the secret. */
const FORMS: { [what: string]: { secret: string; texts: string[] } } = {
  'curl with a user': {
    secret: password,
    texts: [
      'curl -u ada:§ https://x.test',
      'curl -uada:§ https://x.test',
      'curl -u "ada:§" https://x.test',
      "curl -u 'ada:§' https://x.test",
      'curl -s -X POST \\\n  -H "Accept: application/json" \\\n  -u ada:§ \\\n  https://x.test',
      'curl --user ada:§ https://x.test',
      `curl https://x.test/${'a/'.repeat(80)} -u ada:§`,
    ],
  },
  'a password of a command': {
    secret: password,
    texts: [
      'docker login -u ada -p § registry.test',
      'az login -u ada@x.test -p §',
      'mongo -u ada -p § shop',
      'mongosh --password § shop',
      'sqlcmd -S db -U sa -P § -Q "select 1"',
      'mysql -u root -p§ shop',
      'sshpass -p § ssh ada@x.test',
      "echo '§' | sudo -S apt-get update",
      'echo § | sudo -S ls',
      "echo 'ada:§' | chpasswd",
      'echo "§" | docker login -u ada --password-stdin',
      'PGPASSWORD=§ psql shop',
      'db.test:5432:shop:ada:§',
      'openssl rsa -passin pass:§ -in key.pem',
      'redis-cli -a § ping',
      'rdesktop -u ada -p § x.test',
      'smbclient -U ada%§ //x.test/share',
      'openssl enc -aes-256-cbc -k § -in a',
      'net user ada § /add',
      'htpasswd -b .htpasswd ada §',
      'ConvertTo-SecureString "§" -AsPlainText -Force',
      'kubectl create secret generic shop --from-literal=api=§',
      'kinit ada <<< §',
    ],
  },
  'a variable of PowerShell': {
    secret: password,
    texts: [
      '$env:DB_PASSWORD = "§"',
      "$Env:API_KEY = '§'",
      '$env:DB_PASSWORD="§"',
      `${'$'}{env:DB_PASSWORD} = "§"`,
      '$script:AdminPassword = "§"',
      '$global:ApiToken  =  "§"',
      '[Environment]::SetEnvironmentVariable("DB_PASSWORD", "§", "User")',
    ],
  },
  'a variable of fish': {
    secret: password,
    texts: [
      'set -gx DB_PASSWORD §',
      'set -x API_KEY "§"',
      'set --global --export DB_PASSWORD §',
      'set -Ux API_TOKEN §',
    ],
  },
  'what is piped into a command': {
    secret: password,
    texts: [
      'docker login -u ada --password-stdin <<< "§"',
      "docker login --username ada --password-stdin registry.test <<< '§'",
      'podman login --password-stdin registry.test <<<§',
      'gh auth login --with-token <<< §',
      'helm registry login registry.test -u ada --password-stdin <<< §',
      "docker login --password-stdin <<'EOF'\n§\nEOF",
    ],
  },
  'a passphrase of words': {
    secret: 'three plain words',
    texts: [
      'gpg --batch --passphrase "§" -c a',
      "gpg --passphrase='§' -d a.gpg",
      'PASSPHRASE="§"',
      'ssh_key_passphrase: "§"',
    ],
  },
  'a word that is the password of an account': {
    secret: 'saddlebird',
    texts: [
      '$host = "localhost"; $user = "shop"; $password = "§";',
      "if username == 'ada@x.test' and password =='§':",
      'the default password is "§" and has to be changed',
      "SET PASSWORD = PASSWORD('§');",
      "CREATE LOGIN ada WITH PASSWORD = '§';",
      'requests.get(url, auth=("ada", "§"))',
      'new UsernamePasswordCredentials("ada", "§")',
      "ALTER USER ada PASSWORD '§';",
      "ALTER ROLE ada WITH LOGIN ENCRYPTED PASSWORD '§' VALID UNTIL 'infinity';",
      'psql -c "CREATE USER ada PASSWORD \'§\'"',
    ],
  },
  'a password that looks like a type': {
    secret: 'SummerHolidayBeach2024',
    texts: ['password: §;', 'Passwort: §;', 'interface Login { password: §; }', 'clientSecret: §;', 'secret: §;'],
  },
  'a password with words and a number': {
    secret: 'MyString2024',
    texts: ['password: §;', 'Password: §;', 'clientSecret: §;', 'user: ada; db_password: §; port: 5432;'],
  },
  'a password of three words': { secret: 'CorrectHorseBattery42', texts: ['Password: §;'] },
  'a password called the longest text': { secret: 'XmlStringMaxLen256', texts: ['KdcAdminPassword: §;'] },
  'a key of letters alone': { secret: made('letters', 40, 4), texts: ["BEAMER_KEY = '§'", '"codemagic_key": "§"'] },
  'a key behind words': { secret: `Mid-server-${made('alnum', 17, 6)}`, texts: ['MIDTRANS_SERVER_KEY=§'] },
  'a key that is a UUID or a hash': {
    secret: madeUuid(4),
    texts: ["METRICS_KEY='§'", '"coinlibKey": "§"', 'blynk_key: §'],
  },
  'a key of hex alone': { secret: made('hex', 64, 9), texts: ["mesibo_key = '§'", 'apiKey |§|'] },
  'a token of letters alone': {
    secret: made('letters', 24, 10),
    texts: ['ENV DRONE_TOKEN §', '"apiKey": "§"', '<slackKey>§</slackKey>'],
  },
  'a password of five letters': { secret: 'gitea', texts: ['POSTGRES_PASSWORD=§', '- DB_PASSWD=§'] },
  'a licence key': {
    secret: [1, 2, 3, 4, 5].map((seed) => made('upper', 5, seed)).join('-'),
    texts: ['"ActivationKey": "§"', 'LICENSE_KEY=§'],
  },
  'a password of a database': {
    secret: password,
    texts: [
      "ALTER USER ada WITH PASSWORD '§';",
      "CREATE USER ada IDENTIFIED BY '§';",
      "SET PASSWORD FOR 'ada'@'%' = '§';",
      'CREATE USER ada ACCOUNT UNLOCK IDENTIFIED BY §;',
      "CREATE USER ada IDENTIFIED WITH 'mysql_native_password' AS '§';",
      "$db = mysqli_connect('db', 'shop', '§');",
      "new PDO('mysql:host=db', 'shop', '§')",
      'DriverManager.getConnection(url, "shop", "§")',
      "smtp.login('ada@x.test', '§')",
      "ALTER LOGIN sa WITH PASSWORD = N'§';",
      'Server=db;Database=shop;User Id=sa;Password=§;',
      'Server=db;Uid=sa;Pwd=§;Encrypt=yes',
      'postgres://ada:§@db:5432/shop',
      'jdbc:mysql://db/shop?user=ada&password=§',
    ],
  },
  'a password in a sentence': {
    secret: password,
    texts: [
      'The password is §.',
      'password for ada: §',
      'PW: §',
      'pw = §',
      'pass: §23456',
      'Passwort: §',
      'mot de passe : §',
      'Das Passwort ist §, bitte nicht weitersagen.',
      'contraseña: §',
      'senha: §',
      'ADMIN_PASSWORD=§',
      'pwd: §',
      'Sign in as ada with password § and look around.',
      'The user is ada and the password § works.',
      'user ada, password § (for staging)',
      'Das Passwort lautet §, bitte nicht weitersagen.',
      'Das Kennwort lautet: §',
      'New password set to §',
      'I changed the password to §.',
      'Das Passwort wurde geändert; Passwort → §',
      'A temporary password is generated for root@localhost: §',
      'Password (again): §',
      'credentials: admin / §',
      'log in as root / §',
      'creds ada:§',
      'psk=§',
      "page.type('input[name=password]', '§')",
    ],
  },
  'a word with a number as a password': {
    secret: 'saddlebird7',
    texts: [
      'password = "§"',
      '{"db_password": "§"}',
      "define('DB_PASSWORD', '§');",
      '<password>§</password>',
      '<key>smtp_password</key>\n  <value>§</value>',
      'password: §',
      'The password is §.',
      'if password == f"§":',
      'db = connect(os.getenv("DB_PASSWORD") or "§")',
      'Environment.GetEnvironmentVariable("DB_PASSWORD") ?? "§"',
      `spring.datasource.password=${'$'}{DB_PASSWORD:-§}`,
    ],
  },
  'a password in another language': {
    secret: 'Vesna2024',
    texts: [
      'пароль: §',
      'Пароль от базы: §',
      'Ваш пароль — §, смените его',
      '{"пароль": "§"}',
      '密码：§，请尽快修改',
      '您的登录密码是§。',
      '{"密碼": "§"}',
      'パスワードは「§」です',
      '비밀번호: §',
      'lösenord: §',
      'adgangskode: §',
      'salasana: §',
      'heslo: §',
      'contrasenya: §',
    ],
  },
  'words as a key': {
    secret: 'CorrectHorseBattery42',
    texts: ['api_key: §', '"apiKey": "§"', 'API_KEY=§', 'password is §'],
  },
  'a token in code': {
    secret: token,
    texts: [
      'let apiKey: string = "§";',
      'api_key: str = "§"',
      'var token string = "§"',
      'setenv("API_KEY", "§", 1);',
      'headers.set("X-Api-Key", "§");',
      "header('Authorization', '§');",
      'define("DB_PASSWORD", "§");',
      '<add key="ApiKey" value="§"/>',
      '<apiKey>\n  §\n</apiKey>',
      'ENV DB_PASSWORD §',
      'setx API_KEY §',
      'API_TOKEN ?= §',
      'API_TOKEN ::= "§"',
      'secret: |\n  §\n',
      '"apiKeys": ["§"]',
      'STRIPE_KEY=§',
      'sendgridKey: "§"',
      'check("%v is no key", sendgridKey, "§")',
      'https://maps.test/api?key=§',
      'vault kv put secret/x token=§',
      "token - '§'",
      'variable "api_token" {\n  default = "§"\n}',
    ],
  },
  'a session in a cookie': {
    secret: hex,
    texts: ['Cookie: theme=dark; sessionid=§; lang=de', 'Set-Cookie: connect.sid=§; Path=/', 'Cookie: PHPSESSID=§'],
  },
  'a hash of a password': {
    secret: `$2b$12$${made('alnum', 53)}`,
    texts: ['ada:§', 'password_digest = "§"'],
  },
};

const CASES = Object.entries(FORMS).flatMap(([what, { secret, texts }]) =>
  texts.map((text) => [what, text, secret] as const),
);

test.each(CASES)('%s is masked: %s', (_what, text, secret) => {
  const masked = redact(text.replace('§', () => secret));
  expect(masked).not.toContain(secret.slice(0, 8));
  // The text beside the secret stays.
  const [before = '', after = ''] = text.split('§').map((part) => JSON.stringify(part).slice(1, -1));
  expect(masked).toContain(`${before}[REDACTED:`);
  expect(masked).toContain(after.replace('23456', ''));
});

test.each([
  [{ passphrase: 'correct horse battery staple' }, 'battery'],
  [{ mnemonic: 'orbit canyon velvet ladder puzzle tiger frost anchor meadow silver copper lunar' }, 'velvet'],
  [{ apiKeys: [token] }, token],
  [{ tokens: [token] }, token],
  [{ args: ['--password', password] }, password],
  [{ otp: '492017' }, '492017'],
  [{ two_factor: '492017' }, '492017'],
  [{ a_password_here: password }, password],
  [{ cookies: { PHPSESSID: hex } }, hex],
  [{ auths: { 'registry.test': { auth: Buffer.from(`ada:${password}`).toString('base64') } } }, 'YWRh'],
])('nothing of %j is left', (value, secret) => expect(redact(value)).not.toContain(secret));

test('a key that was cut off ends where prose begins', () => {
  const lines = [1, 2, 3].map((seed) => made('base64', 64, seed)).join('\n');
  const masked = redact(
    `-----BEGIN PRIVATE KEY-----\n${lines}\n\nThat was the key; now to the tests, which are green.`,
  );
  expect(masked).toContain(']\\n\\nThat was the key; now to the tests, which are green.');
  expect(masked).not.toContain(lines.slice(0, 20));
});

test('a key that was cut off leaves JSON whole', () => {
  const text = JSON.stringify({
    key: `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${made('base64', 64)}\n${made('base64', 64, 2)}`,
  });
  expect(() => JSON.parse(JSON.parse(redact(`log: ${text}`)).output.slice(5))).not.toThrow();
});

test.each([
  `https://shop.blob.core.windows.net/c?sv=2024&sig=${made('alnum', 43)}%3D&se=2026`,
  `SharedAccessSignature sr=x&sig=${made('alnum', 41)}%2F%2B%3D&se=1`,
])('nothing of a signature is left: %s', (text) => {
  expect(redact(text)).toMatch(/sig=\[REDACTED:[a-z-]+:[0-9a-f]{4}\]&se=/);
});

test.each([
  '{"Password": "Senha", "password": "Mot de passe", "API tokens": "API-Token verwalten", "Secret": "鍵を更新"}',
  '{"New Password": "Nuova password", "password": "密码不正确。", "OldPassword": "旧パスワード", "password.mixed": "Doit contenir une majuscule"}',
  '{"Are you sure you would like to delete this API token?": "Crear o borrar 2 API"}',
  '"symfony/password-hasher": "^6.4|^7.0"',
  'find("access_token", "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Ajwt2-bearer")',
  '"key": "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAn63z2qlY6z95k7bD"',
  "curl --pinnedpubkey 'sha256//ce118b51897f4452dc' $URL",
  'newSecretKey("PBKDF2WithHmacSHA1", spec)',
  'private final Collection<Saml2X509Credential> decryptionX509Credentials;',
  'Authorization: Digest username="robin", realm="shop"',
  'const char *proxyuserpwd = libtest_arg4;',
  'secret => OpenSSL::Digest::MD5.hexdigest(parts)',
  "['HTTP_AUTHORIZATION' => 'Bearer VALID_ACCESS_TOKEN']",
  'str_to_sign = format("Authorization: %.*s4-HMAC-SHA256", name)',
  'if the file has "onepassword" or "1password" in its name',
  '{"AdminCredentials": "arn:aws:iam::aws:policy/AdminCredentials", "AllowCredentials": "Boolean indicating whether request is allowed"}',
  'password: [/^[0-9a-z]{6,16}$/], account_key = "host_account_{}_{}"; {"SecretString": "{JSON STRING}"}',
  'accessToken=".concat(n); self._auth = HTTPSignatureAuthentication',
  'KdcAdminName: XmlStringMaxLen256; KdcAdminPassword?: string; Name: XmlStringMaxLen256;',
  '{"enum": ["MYSQL_NATIVE_PASSWORD", "MYSQL_CACHING_SHA2_PASSWORD", "AUTODETECT_SIGV4"]}',
  'Пароль должен содержать 8 символов; 密码长度为8到16位; パスワードは8文字以上です',
  '"AWS::ApiGateway::ApiKey": "48205d4ffd7feba3"',
  '"arn:aws:iam::aws:policy/AWSBillingConductorReadOnlyAccess"',
  'arn:aws:secretsmanager:eu-west-1:123456789012:secret:MyTestDatabaseSecret-a1b2c3',
  `"ClientRequestToken": "${madeUuid()}"`,
  'Basic WebSocketSubject, basic CloudFormation template, basic FunctionDeclarations',
  'type SemicolonToken = SemicolonToken$1;',
  'const token = calculateSha2Token(x); this.auth = this.x509Authentication;',
  'password = base64.b64decode(text)',
  'PRIVATE_KEY: MLKEM768X25519PublicKey',
  '["TR31_K0_KEY_ENCRYPTION_KEY", "TR31_K1_KEY_BLOCK_PROTECTION_KEY"]',
  'token: android.os.BinderProxy@2bd79ce',
  '"auth":["aws.auth#sigv4","smithy.api#httpBearerAuth1"]',
  '{"TokenValidityUnits":{"AccessToken":"hours","IdToken":"minutes"}}',
  'key = win32api.RegEnumKey',
  "database: 'shop', host: 'x', password: 'required'",
  'If the password is "incorrect", ask again; the password is "expired".',
  'The password is "masked" in logs; the old password was "leaked", the new password is "stored" with bcrypt.',
  '{"username": "Benutzername", "password": "Passwort"}; username: "usuario", password: "contrasena"',
  'login: "anmelden", password: "kennwort"; login: "entrar", password: "senha"',
  'A valid key name prefix identified by S3Uri; a user identified as admin2',
  'product_key: "0001-0002-0003-0004", key: "2024-1101-2233-4455"',
  'react_key = "getElementsByTagNameAndClassName"',
  'restore cache with key: setup-1-x86_64-unknown-linux-gnu-0.7.13-f6c65b29c82e4981',
  `cacheKey: "a1b2c3d4e5f6a7b8c9d0", key: "${madeUuid()}", "ClientToken": "${madeUuid()}"`,
  `gpg --recv-keys ${made('hex', 40).toUpperCase()}`,
  '{"key":"chunk_0f3b9c1d7e5a4826"}, key: chunk_0f3b9c1d7e5a4826',
  'restore-keys: Linux-npm-0f3b9c1d7e5a48260f3b',
  'restore-keys: |\n  linux-pip-0f3b9c1d7e5a4826\n',
  'interface Key { apiKey: SensitiveString2048; DeviceToken: NonEmptySensitiveString1600; StaticKeyValue: __stringMin32Max32; ClientSecret: XmlStringMaxLen256; }',
  "requests.get(url, auth=('user', 'passwd')); login: user/project-2024; log in with Google/OAuth2",
  'Find credentials in s3/us-east-1a; change the password to base64, or set the password to SHA256Hash',
  'a dialog with password input2 and password SHA256Hash; the login and password fields',
  'const PASSWORD_PATTERN = /^\\w{8,}$/; password: z.string().min(8)',
  'password [REDACTED:key-name:1a2b] and token=[REDACTED]',
  'password: [REDACTED], passphrase: [removed by ada], secret=***REDACTED***',
  'passphrase = "the passphrase to use", passphrase: "Enter passphrase for key"',
])('%s is left as it is', (text) => expect(redact(text)).toContain(JSON.stringify(text).slice(1, -1)));

test.each([{ password: 'vault' }, { password: 'keychain' }, { db_password: 'prompt' }, { passwords: 'environment' }])(
  'where a password comes from is none: %j',
  (value) => expect(redact(value)).toContain(JSON.stringify(value)),
);
