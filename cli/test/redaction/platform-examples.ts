import { made, madeUuid } from './made.ts';
import type { RuleExamples } from './rule-examples.ts';

const BODY = Array.from({ length: 4 }, (_, line) => made('base64', 64, line)).join('\n');
const FRAME = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;

/** Of keys, clouds, source hosts, packages and model providers. */
export const PLATFORM_EXAMPLES: RuleExamples = {
  'private-key': {
    hit: [
      FRAME('RSA PRIVATE KEY', BODY),
      FRAME('OPENSSH PRIVATE KEY', BODY).replaceAll('\n', '\\n'),
      FRAME('PRIVATE KEY', BODY).replaceAll('\n', '\\\\n'),
      FRAME('EC PRIVATE KEY', BODY).slice(0, -30),
      FRAME('PGP PRIVATE KEY BLOCK', `Version: GnuPG v2\n\n${BODY}\n=abCD`),
    ],
    miss: [FRAME('PUBLIC KEY', BODY), FRAME('PRIVATE KEY', '...'), 'starts with -----BEGIN PRIVATE KEY-----'],
  },
  'private-key-end': {
    hit: [FRAME('RSA PRIVATE KEY', BODY).slice(100), FRAME('PRIVATE KEY', BODY).replaceAll('\n', '\\n').slice(90)],
    miss: ['-----END PRIVATE KEY-----', FRAME('PUBLIC KEY', BODY)],
  },
  'encoded-private-key': {
    hit: [
      Buffer.from(FRAME('PRIVATE KEY', BODY)).toString('base64'),
      Buffer.from(FRAME('RSA PRIVATE KEY', BODY)).toString('base64'),
    ],
    miss: [Buffer.from(FRAME('CERTIFICATE', BODY)).toString('base64')],
  },
  'putty-key': { hit: [`Private-Lines: 4\n${BODY}\nPrivate-MAC: 1`], miss: ['Private-Lines: 4'] },
  'json-web-token': {
    hit: [`eyJ${made('url', 33)}.eyJ${made('url', 80)}.${made('url', 43)}`],
    miss: [`eyJ${made('url', 33)}`],
  },
  'encrypted-web-token': {
    hit: [`eyJ${made('url', 60)}.${made('url', 342)}.${made('url', 16)}.${made('url', 120)}.${made('url', 22)}`],
    miss: ['eyJ.a.b'],
  },
  'aws-access-key': {
    hit: [`AKIA${made('base32', 16)}`, `aws_access_key_id = ASIA${made('base32', 16, 2)}\n`],
    miss: ['AKIAXXXXXXXXXXXXXXXX', 'AKIAIOSFODNN7EXAMPLE', 'asiatic'],
  },
  'aws-secret-key': {
    hit: [`aws_secret_access_key = ${made('base64', 40)}`, `"SecretAccessKey": "${made('base64', 40, 3)}"`],
    miss: ['aws_secret_access_key = <your secret access key>', `aws-sdk: ${made('hex', 40)}`],
  },
  'aws-session-token': { hit: [`AWS_SESSION_TOKEN=${made('base64', 240)}`], miss: ['AWS_SESSION_TOKEN=$TOKEN'] },
  'aws-bedrock-key': { hit: [`ABSK${made('base64', 128)}`], miss: ['ABSKip'] },
  'google-api-key': {
    hit: [`AIza${made('url', 35)}`, `?key=AIza${made('alnum', 35)}&v=3`],
    miss: ['AIzaSyYOUR_API_KEY'],
  },
  'google-client-secret': { hit: [`GOCSPX-${made('url', 28)}`], miss: ['GOCSPX-short'] },
  'google-access-token': { hit: [`Bearer ya29.${made('url', 160)}`], miss: ['ya29.'] },
  'google-refresh-token': { hit: [`1//0${made('url', 60)}`], miss: ['1//0'] },
  'azure-client-secret': { hit: [`${made('alnum', 3)}8Q~${made('alnum', 34)}`], miss: ['8Q~short'] },
  'azure-account-key': {
    hit: [
      `AccountName=a;AccountKey=${made('base64', 86)}==;EndpointSuffix=x`,
      `;SharedAccessKey=${made('base64', 43)}=`,
    ],
    miss: ['AccountKey=<key>;'],
  },
  'azure-shared-access-signature': { hit: [`?sv=2024-01-01&sp=r&sig=${made('alnum', 43)}%3D`], miss: ['?sig=abc%3D'] },
  'azure-service-key': { hit: [`${made('alnum', 52)}JQQJ9${made('alnum', 27)}`], miss: ['JQQJ9'] },
  'azure-devops-token': { hit: [`${made('alnum', 76)}AZDO${made('alnum', 4)}`], miss: ['AZDO1234'] },
  'alibaba-access-key': { hit: [`LTAI${made('alnum', 20)}`], miss: ['LTAI'] },
  'tencent-secret-id': { hit: [`AKID${made('alnum', 32)}`], miss: ['AKIDxxxx'] },
  'yandex-cloud-key': { hit: [`AQVN${made('url', 36)}`, `y0_${made('alnum', 55)}`], miss: ['y0_axis'] },
  'cloudflare-prefixed-token': {
    hit: [`v1.0-${made('hex', 24)}-${made('hex', 146)}`, `cfut_${made('alnum', 48)}`],
    miss: ['v1.0-rc1'],
  },
  'digitalocean-token': { hit: [`dop_v1_${made('hex', 64)}`], miss: ['dop_v1_token'] },
  'heroku-prefixed-key': { hit: [`HRKU-${made('url', 60)}`, `HRKU-${madeUuid()}`], miss: ['HRKU-'] },
  'vercel-prefixed-token': { hit: [`vcp_${made('alnum', 56)}`], miss: ['vcp_region'] },
  'netlify-token': { hit: [`nfp_${made('alnum', 36)}`], miss: ['nfc_reader'] },
  'fly-token': { hit: [`FlyV1 fm2_${made('base64', 200)}`, `fo1_${made('url', 43)}`], miss: ['fm1_radio'] },
  'supabase-key': { hit: [`sbp_${made('hex', 40)}`, `sb_secret_${made('url', 31)}`], miss: ['sb_publishable_x'] },
  'firebase-messaging-key': { hit: [`AAAA${made('url', 7)}:${made('url', 140)}`], miss: [`AAAA${'A'.repeat(60)}`] },
  'render-key': { hit: [`rnd_${made('alnum', 32)}`], miss: ['rnd_seed'] },
  'tailscale-key': { hit: [`tskey-auth-${made('alnum', 12)}CNTRL-${made('alnum', 32)}`], miss: ['tskey-auth'] },
  'vault-token': { hit: [`hvs.${made('url', 95)}`], miss: ['hvs.example'] },
  'vault-named-token': {
    hit: [`VAULT_TOKEN=s.${made('alnum', 24)}`, `Initial Root Token: s.${made('alnum', 24)}`],
    miss: ['vault token s.x'],
  },
  'vault-key-share': { hit: [`Unseal Key 1: ${made('base64', 43)}=`], miss: ['Unseal Key 1: <share>'] },
  'netlify-build-hook': {
    hit: [`https://api.netlify.com/build_hooks/${made('hex', 24)}`],
    miss: ['netlify.com/build_hooks/ID'],
  },
  'terraform-token': { hit: [`${made('alnum', 14)}.atlasv1.${made('url', 67)}`], miss: ['token.atlasv1.x'] },
  'pulumi-token': { hit: [`pul-${made('hex', 40)}`], miss: ['pul-request'] },
  'doppler-token': { hit: [`dp.pt.${made('alnum', 43)}`, `dp.st.dev_api.${made('alnum', 43, 2)}`], miss: ['dp.st.'] },
  'github-token': {
    hit: [`ghp_${made('alnum', 36)}`, `x-access-token:ghs_${made('alnum', 36, 2)}@`],
    miss: ['ghp_xxxxxxxx'],
  },
  'github-token-jwt': { hit: [`ghs_123_eyJ${made('url', 200)}`], miss: ['ghs_1'] },
  'github-fine-grained-token': {
    hit: [`github_pat_${made('alnum', 22)}_${made('alnum', 59)}`],
    miss: ['github_pat_...'],
  },
  'gitlab-token': {
    hit: [`glpat-${made('url', 20)}`, `PRIVATE-TOKEN: glptt-${made('hex', 40)}`],
    miss: ['glpat-xxxxxxxxxxxxxxxxxxxx'],
  },
  'gitlab-registration-token': { hit: [`GR1348941${made('url', 20)}`], miss: ['GR1348941'] },
  'bitbucket-token': {
    hit: [`ATBB${made('alnum', 24)}${made('hex', 8).toUpperCase()}`, `ATCTT3xFfGN0${made('url', 180)}`],
    miss: ['ATBB'],
  },
  'sourcegraph-token': { hit: [`sgp_${made('hex', 16)}_${made('hex', 40)}`], miss: ['sgp_'] },
  'sonar-token': { hit: [`sqp_${made('hex', 40)}`], miss: ['squ_are'] },
  'circleci-token': {
    hit: [`CCIPAT_${made('alnum', 22)}_${made('hex', 40)}`, `CIRCLECI_TOKEN=${made('hex', 40)}`],
    miss: ['circle: 40'],
  },
  'buildkite-token': { hit: [`bkua_${made('hex', 40)}`], miss: ['bkua_'] },
  'snyk-token': { hit: [`snyk_uat.${made('hex', 8)}.${made('url', 86)}`], miss: ['snyk_uat.'] },
  'gitea-key': { hit: [`gto_${made('lower', 52)}`], miss: ['gto_x'] },
  'npm-token': { hit: [`npm_${made('alnum', 36)}`], miss: ['npm_config_registry', 'npm_lifecycle_event'] },
  'npmrc-token': {
    hit: [`//registry/:_authToken=${made('hex', 36)}`, `_auth=${made('base64', 24)}`],
    miss: ['_authToken=$NPM_TOKEN', 'self._password = handler.password'],
  },
  'pypi-token': { hit: [`pypi-AgEIcHlwaS5vcmc${made('url', 120)}`], miss: ['pypi-publish'] },
  'docker-token': { hit: [`dckr_pat_${made('url', 27)}`], miss: ['dckr_pat_'] },
  'rubygems-key': { hit: [`rubygems_${made('hex', 48)}`], miss: ['rubygems_version'] },
  'crates-token': { hit: [`cio${made('alnum', 32)}`], miss: ['cio'] },
  'nuget-key': { hit: [`oy2${made('lower', 43)}`], miss: ['oy2'] },
  'clojars-token': { hit: [`CLOJARS_${made('lower', 60)}`], miss: ['CLOJARS_USERNAME'] },
  'artifactory-token': { hit: [`AKCp${made('alnum', 69)}`, `cmVmdGtu${made('alnum', 56)}`], miss: ['AP1'] },
  'packagist-token': { hit: [`packagist_out_${made('hex', 68)}`], miss: ['packagist_url'] },
  'anthropic-key': {
    hit: [`sk-ant-api03-${made('url', 93)}AA`, `ANTHROPIC_API_KEY=sk-ant-oat01-${made('url', 93)}AA`],
    miss: ['sk-ant-...', 'sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
  },
  'openrouter-key': { hit: [`sk-or-v1-${made('hex', 64)}`], miss: ['sk-or-v1-…'] },
  'openai-key': {
    hit: [`sk-proj-${made('url', 74)}T3Blbk${made('url', 74)}`, `sk-${made('alnum', 48)}`, `sk-${made('hex', 32)}`],
    miss: ['sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 'sk-circle-fade-dot', 'task-1'],
  },
  'openai-session': { hit: [`sess-${made('alnum', 40)}`], miss: [`sess-${madeUuid()}`] },
  'huggingface-token': { hit: [`hf_${made('letters', 34)}`, `api_org_${made('letters', 34)}`], miss: ['hf_transfer'] },
  'replicate-token': { hit: [`r8_${made('alnum', 37)}`], miss: ['r8_g8'] },
  'groq-key': { hit: [`gsk_${made('alnum', 52)}`], miss: ['gsk_'] },
  'perplexity-key': { hit: [`pplx-${made('alnum', 48)}`], miss: ['pplx-70b-online'] },
  'xai-key': { hit: [`xai-${made('alnum', 80)}`], miss: ['xai-org'] },
  'nvidia-key': { hit: [`nvapi-${made('url', 64)}`], miss: ['nvapi-'] },
  'elevenlabs-key': { hit: [`sk_${made('hex', 48)}`], miss: ['sk_buff'] },
  'langsmith-key': {
    hit: [`lsv2_pt_${made('hex', 32)}_${made('hex', 10)}`, `sk-lf-${madeUuid()}`],
    miss: ['lsv2_pt_'],
  },
  'pinecone-key': { hit: [`pcsk_${made('alnum', 5)}_${made('alnum', 63)}`], miss: ['pcsk_'] },
  'model-tool-key': {
    hit: [`tvly-${made('alnum', 32)}`, `fc-${made('hex', 32)}`, `fw_${made('alnum', 24)}`],
    miss: ['fc-match'],
  },
  'named-model-key': {
    hit: [
      `MISTRAL_API_KEY=${made('alnum', 32)}`,
      `COHERE_API_KEY: "${made('alnum', 40)}"`,
      `WANDB_API_KEY=${made('hex', 40)}`,
    ],
    miss: ['MISTRAL_API_KEY=your_key', 'model: mistral, large'],
  },
};
