import { createMakers, type Examples } from './example.ts';

const { alnum, lower, upper, base32, base64, url, hex, digits, uuid } = createMakers(4000);
const pem = () => Array.from({ length: 6 }, () => base64(64)).join('\n');

/**
 * Written from what providers document, before any rule was changed because of them: the format of the secret, the names
 * their documentation gives it, and where a session shows it.
 */
export const FIRST_BATCH: Examples = {
  'Amazon Web Services': [
    [`AKIA${base32(16)}`, '[default]\naws_access_key_id = §\nregion = eu-west-1'],
    [base64(40), '[default]\naws_secret_access_key = §'],
    [base64(40), 'AWS_SECRET_ACCESS_KEY=§ aws s3 ls'],
    [base64(40), '{"AccessKeyId": "ASIA0", "SecretAccessKey": "§", "Expiration": "2026-01-01"}'],
    [`IQoJb3JpZ2luX2Vj${base64(300)}`, 'export AWS_SESSION_TOKEN="§"'],
    [base64(40), "const s3 = new S3Client({ credentials: { accessKeyId: id, secretAccessKey: '§' } });"],
  ],
  'Google Cloud': [
    [`AIza${url(35)}`, 'GET https://maps.googleapis.com/maps/api/geocode/json?address=x&key=§ 200'],
    [`AIza${url(35)}`, 'GOOGLE_API_KEY=§'],
    [`GOCSPX-${url(28)}`, '{"web":{"client_id":"1.apps.googleusercontent.com","client_secret":"§"}}'],
    [`ya29.${url(180)}`, 'curl -H "Authorization: Bearer §" https://storage.googleapis.com/b'],
    [`1//04${url(60)}`, '"refresh_token": "§"'],
    [pem().replaceAll('\n', '\\n'), '"private_key": "-----BEGIN PRIVATE KEY-----\\n§\\n-----END PRIVATE KEY-----\\n",'],
  ],
  Azure: [
    [`${base64(86)}==`, 'DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=§;EndpointSuffix=core.windows.net'],
    [`${alnum(3)}8Q~${url(31)}`, 'AZURE_CLIENT_SECRET=§'],
    [`${alnum(43)}%3D`, 'https://shop.blob.core.windows.net/c?sv=2024-05-04&se=2026-01-01&sp=r&sig=§'],
    [hex(32), 'Ocp-Apim-Subscription-Key: §'],
    [hex(32), 'AZURE_OPENAI_API_KEY="§"'],
    [`${base64(43)}=`, 'Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=§'],
  ],
  GitHub: [
    [`ghp_${alnum(36)}`, 'GITHUB_TOKEN=§'],
    [`gho_${alnum(36)}`, 'github.com:\n    oauth_token: §\n    user: ada'],
    [`ghs_${alnum(36)}`, 'git clone https://x-access-token:§@github.com/shop/web.git'],
    [`github_pat_${alnum(22)}_${alnum(59)}`, "const octokit = new Octokit({ auth: '§' });"],
    [`ghp_${alnum(36)}`, 'remote: Invalid username or token §. fatal: Authentication failed'],
  ],
  GitLab: [
    [`glpat-${url(20)}`, 'curl --header "PRIVATE-TOKEN: §" https://gitlab.com/api/v4/projects'],
    [`glpat-${url(27)}.01.${lower(9)}`, 'GITLAB_TOKEN=§'],
    [`glrt-${url(20)}`, 'gitlab-runner register --url https://gitlab.com --token §'],
    [`gldt-${url(20)}`, 'docker login registry.gitlab.com -u deploy -p §'],
    [`glcbt-64_${url(20)}`, 'CI_JOB_TOKEN: §'],
  ],
  Bitbucket: [
    [`ATBB${alnum(32)}`, 'git clone https://ada:§@bitbucket.org/shop/web.git'],
    [`ATBB${alnum(32)}`, 'BITBUCKET_APP_PASSWORD=§'],
    [`ATCTT3xFfGN0${url(170)}=${hex(8).toUpperCase()}`, 'Authorization: Bearer §'],
    [`ATATT3xFfGF0${url(170)}=${hex(8).toUpperCase()}`, 'bitbucket:\n  token: §'],
    [alnum(32), 'BITBUCKET_CLIENT_SECRET="§"'],
  ],
  npm: [
    [`npm_${alnum(36)}`, '//registry.npmjs.org/:_authToken=§'],
    [`npm_${alnum(36)}`, 'NODE_AUTH_TOKEN: §'],
    [uuid(), '//npm.company.test/:_authToken=§'],
    [`npm_${alnum(36)}`, '{"token":"§","key":"1","cidr_whitelist":null,"readonly":false}'],
    [base64(32), '//npm.company.test/:_auth="§"'],
  ],
  PyPI: [
    [`pypi-AgEIcHlwaS5vcmc${url(150)}`, '[pypi]\nusername = __token__\npassword = §'],
    [`pypi-AgEIcHlwaS5vcmc${url(150)}`, 'TWINE_PASSWORD=§ twine upload dist/*'],
    [`pypi-AgEIcHlwaS5vcmc${url(150)}`, 'poetry config pypi-token.pypi §'],
    [`pypi-AgENdGVzdC5weXBpLm9yZw${url(140)}`, 'UV_PUBLISH_TOKEN: §'],
    [`pypi-AgEIcHlwaS5vcmc${url(150)}`, "403 Invalid API token '§'"],
  ],
  Docker: [
    [`dckr_pat_${url(27)}`, 'docker login -u ada -p §'],
    [`dckr_pat_${url(27)}`, 'DOCKERHUB_TOKEN=§'],
    [
      Buffer.from(`ada:dckr_pat_${url(27)}`).toString('base64'),
      '{"auths":{"https://index.docker.io/v1/":{"auth":"§"}}}',
    ],
    [`dckr_oat_${url(32)}`, 'echo § | docker login --password-stdin'],
    [`dckr_pat_${url(27)}`, 'password: §'],
  ],
  Slack: [
    [`xoxb-${digits(12)}-${digits(13)}-${alnum(24)}`, 'SLACK_BOT_TOKEN=§'],
    [`xoxp-${digits(12)}-${digits(12)}-${digits(13)}-${hex(32)}`, 'curl -F token=§ https://slack.com/api/auth.test'],
    [`xapp-1-A0${upper(9)}-${digits(13)}-${hex(64)}`, "new App({ appToken: '§', socketMode: true })"],
    [`T0${upper(8)}/B0${upper(9)}/${alnum(24)}`, 'webhook: https://hooks.slack.com/services/§'],
    [hex(32), 'SLACK_SIGNING_SECRET: "§"'],
    [`xoxe.xoxp-1-${base64(160)}`, '{"ok":true,"access_token":"§"}'],
  ],
  Discord: [
    [`MTA${alnum(23)}.G${alnum(5)}.${url(38)}`, 'DISCORD_TOKEN=§'],
    [`MTA${alnum(23)}.G${alnum(5)}.${url(38)}`, "client.login('§');"],
    [`MTA${alnum(23)}.G${alnum(5)}.${url(38)}`, 'curl -H "Authorization: Bot §" https://discord.com/api/v10/users/@me'],
    [url(68), 'https://discord.com/api/webhooks/112233445566778899/§'],
    [`MTA${alnum(23)}.G${alnum(5)}.${url(38)}`, 'bot:\n  token: §'],
    [url(32), 'DISCORD_CLIENT_SECRET=§'],
  ],
  Telegram: [
    [`AA${url(33)}`, 'TELEGRAM_BOT_TOKEN=7123456789:§'],
    [`AA${url(33)}`, 'POST https://api.telegram.org/bot6198273645:§/sendMessage'],
    [`AA${url(33)}`, "const bot = new Telegraf('5918273640:§');"],
    [`AA${url(33)}`, '{"token": "6012837465:§"}'],
    [`AA${url(33)}`, '2026-01-02 12:00:01 ERROR telegram: 401 for 6928374650:§'],
  ],
  Twilio: [
    [hex(32), `TWILIO_ACCOUNT_SID=AC${hex(32)}\nTWILIO_AUTH_TOKEN=§`],
    [`SK${hex(32)}`, 'TWILIO_API_KEY=§'],
    [hex(32), `const client = twilio('AC${hex(32)}', '§');`],
    [hex(32), `curl -u AC${hex(32)}:§ https://api.twilio.com/2010-04-01/Accounts.json`],
    [alnum(32), 'twilio:\n  api_secret: §'],
  ],
  SendGrid: [
    [`SG.${url(22)}.${url(43)}`, 'SENDGRID_API_KEY=§'],
    [`SG.${url(22)}.${url(43)}`, "sgMail.setApiKey('§')"],
    [`SG.${url(22)}.${url(43)}`, 'Authorization: Bearer §'],
    [`SG.${url(22)}.${url(43)}`, 'smtp:\n  user: apikey\n  pass: §'],
    [`SG.${url(22)}.${url(43)}`, '{"api_key_id":"x","api_key":"§"}'],
  ],
  Mailgun: [
    [`key-${hex(32)}`, "curl -s --user 'api:§' https://api.mailgun.net/v3/x/messages"],
    [`${hex(32)}-${hex(8)}-${hex(8)}`, 'MAILGUN_API_KEY=§'],
    [`${hex(32)}-${hex(8)}-${hex(8)}`, "mailgun.client({ username: 'api', key: '§' })"],
    [`key-${hex(32)}`, 'mailgun:\n  api_key: §'],
    [hex(32), 'MAILGUN_WEBHOOK_SIGNING_KEY=§'],
  ],
  Mailchimp: [
    [`${hex(32)}-us21`, 'MAILCHIMP_API_KEY=§'],
    [`${hex(32)}-us6`, "mailchimp.setConfig({ apiKey: '§', server: 'us6' })"],
    [`${hex(32)}-us14`, 'curl --user "any:§" https://us14.api.mailchimp.com/3.0/ping'],
    [`${hex(32)}-us2`, 'api_key: §'],
    [`md-${url(22)}`, 'MANDRILL_API_KEY=§'],
  ],
  Stripe: [
    [`sk_live_51${alnum(97)}`, 'STRIPE_SECRET_KEY=§'],
    [`rk_live_51${alnum(97)}`, 'curl https://api.stripe.com/v1/charges -u §:'],
    [`whsec_${alnum(32)}`, 'stripe.webhooks.constructEvent(body, sig, "§")'],
    [`sk_test_${alnum(24)}`, "AuthenticationError: Invalid API Key provided: '§'"],
    [`whsec_${hex(64)}`, 'Ready! Your webhook signing secret is § (^C to quit)'],
  ],
  PayPal: [
    [`E${url(79)}`, 'PAYPAL_CLIENT_SECRET=§'],
    [`A21AA${url(90)}`, 'Authorization: Bearer §'],
    [`E${url(79)}`, '{"paypal":{"clientId":"AQ","secret":"§"}}'],
    [`access_token$production$${lower(16)}$${hex(32)}`, 'BRAINTREE_ACCESS_TOKEN=§'],
    [
      `E${url(79)}`,
      'curl https://api-m.paypal.com/v1/oauth2/token -u "Abc123Client:§" -d grant_type=client_credentials',
    ],
  ],
  Square: [
    [`EAAA${url(60)}`, 'SQUARE_ACCESS_TOKEN=§'],
    [`sq0csp-${url(43)}`, 'square_application_secret: §'],
    [`EAAA${url(60)}`, "new SquareClient({ token: '§' })"],
    [`sq0atp-${url(22)}`, 'Authorization: Bearer §'],
    [`EAAA${url(60)}`, 'curl https://connect.squareup.com/v2/locations -H "Authorization: Bearer §"'],
  ],
  Shopify: [
    [`shpat_${hex(32)}`, 'SHOPIFY_ACCESS_TOKEN=§'],
    [`shpss_${hex(32)}`, 'SHOPIFY_API_SECRET="§"'],
    [`shpat_${hex(32)}`, 'X-Shopify-Access-Token: §'],
    [`shppa_${hex(32)}`, 'https://abc:§@shop.myshopify.com/admin/api/2024-01/products.json'],
    [`shpca_${hex(32)}`, '{"access_token":"§","scope":"read_products"}'],
  ],
  OpenAI: [
    [`sk-proj-${url(74)}T3BlbkFJ${url(74)}`, 'OPENAI_API_KEY=§'],
    [`sk-${alnum(20)}T3BlbkFJ${alnum(20)}`, 'openai.api_key = "§"'],
    [`sk-svcacct-${url(74)}T3BlbkFJ${url(74)}`, '"apiKey": "§",'],
    [
      `sk-admin-${url(58)}T3BlbkFJ${url(58)}`,
      'curl -H "Authorization: Bearer §" https://api.openai.com/v1/organization',
    ],
    [`sk-proj-${url(74)}T3BlbkFJ${url(74)}`, 'Error code: 401 - Incorrect API key provided: §. You can find'],
  ],
  Anthropic: [
    [`sk-ant-api03-${url(93)}AA`, 'ANTHROPIC_API_KEY=§'],
    [`sk-ant-api03-${url(93)}AA`, 'x-api-key: §'],
    [`sk-ant-oat01-${url(93)}AA`, '{"claudeAiOauth":{"accessToken":"§"}}'],
    [`sk-ant-admin01-${url(93)}AA`, "anthropic = Anthropic(api_key='§')"],
    [`sk-ant-api03-${url(93)}AA`, 'docker run -e ANTHROPIC_API_KEY=§ app'],
  ],
  'Other model providers': [
    [`sk-or-v1-${hex(64)}`, 'OPENROUTER_API_KEY=§'],
    [`gsk_${alnum(52)}`, "groq = Groq(api_key='§')"],
    [`r8_${alnum(37)}`, 'REPLICATE_API_TOKEN=§'],
    [alnum(32), 'MISTRAL_API_KEY=§'],
    [`xai-${alnum(80)}`, 'Authorization: Bearer §'],
    [`sk-${hex(32)}`, 'DEEPSEEK_API_KEY: §'],
  ],
  'Hugging Face': [
    [`hf_${alnum(34)}`, 'HF_TOKEN=§'],
    [`hf_${alnum(34)}`, "login(token='§')"],
    [`hf_${alnum(34)}`, 'huggingface-cli login --token §'],
    [`hf_${alnum(34)}`, 'git clone https://ada:§@huggingface.co/ada/model'],
    [`hf_${alnum(34)}`, '{"Authorization": "Bearer §"}'],
  ],
};
