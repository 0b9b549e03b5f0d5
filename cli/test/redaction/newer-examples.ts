import { made, madeUuid } from './made.ts';
import type { RuleExamples } from './rule-examples.ts';

const hash = (before: string, length: number) => `${before}${made('alnum', length)}`;

/** Of providers and forms that came later. */
export const NEWER_EXAMPLES: RuleExamples = {
  'aws-login': {
    hit: [`ASIA${made('base32', 16)}\t2026-11-23T01:00:00+00:00\tk7${made('base64', 38)}`],
    miss: [`ASIA${made('base32', 16)} of ${made('letters', 40)}`],
  },
  'docker-login': { hit: [`eyJhdXRocyI6${made('alnum', 60)}=`], miss: ['eyJhdXRocyI6e30='] },
  'json-web-key': {
    hit: [`{"kty": "EC", "crv": "P-256", "d": "${made('url', 43)}"}`, `{"d":"${made('url', 43)}","x":"a","kty":"EC"}`],
    miss: [`{"kty": "EC", "x": "${made('url', 43)}"}`, `{"d":"${made('url', 43)}"}`],
  },
  'generated-password': {
    hit: [`"type": "random_password", "attributes": {"result": "${made('alnum', 16)}"}`],
    miss: [`"type": "random_id", "attributes": {"result": "${made('alnum', 16)}"}`],
  },
  'aws-service-key': { hit: [`amzn.mws.${madeUuid()}`, `da2-${made('lower', 26)}`], miss: ['da2-bit'] },
  'gemini-key': { hit: [`AQ.Ab8R${made('url', 46)}`], miss: ['AQ.About'] },
  'azure-storage-key': {
    hit: [`AccountKey=${made('base64', 76)}+ASt${made('alnum', 5)}A==`],
    miss: ['+ASt', `AccountKey=${made('base64', 60)}`],
  },
  'azure-database-key': { hit: [`${made('alnum', 76)}ACDb${made('alnum', 5)}Q==`], miss: ['ACDb'] },
  'azure-bus-key': { hit: [`${made('alnum', 33)}+ASb${made('alnum', 5)}E=`], miss: ['+ASb'] },
  'azure-cache-key': { hit: [`${made('alnum', 33)}AzCaB${made('alnum', 5)}=`], miss: ['AzCa'] },
  'azure-search-key': { hit: [`${made('alnum', 42)}AzSeC${made('alnum', 5)}`], miss: ['AzSe'] },
  'azure-function-key': { hit: [`${made('alnum', 44)}AzFu${made('alnum', 5)}Q==`], miss: ['AzFu'] },
  'vault-batch-token': { hit: [`b.AAAAAQ${made('url', 140)}`], miss: ['b.AAAAAQ'] },
  'scalingo-token': { hit: [`tk-us-${made('url', 48)}`], miss: ['tk-us-east'] },
  'openshift-token': { hit: [`sha256~${made('url', 43)}`], miss: ['sha256~'] },
  'docker-swarm-key': {
    hit: [`SWMKEY-1-${made('base64', 43)}`, `SWMTKN-1-${made('lower', 50)}-${made('lower', 25)}`],
    miss: ['SWMTKN-1-token'],
  },
  'defined-network-key': { hit: [`dnkey-${made('upper', 26)}-${made('upper', 52)}`], miss: ['dnkey-x'] },
  'cloud-tool-key': {
    hit: [
      `ico-${made('alnum', 32)}`,
      `configcat-sdk-1/${made('url', 22)}/${made('url', 22, 2)}`,
      `pnu_${made('alnum', 36)}`,
    ],
    miss: ['ico-star', 'unkey_name'],
  },
  'gitlab-session': { hit: [`_gitlab_session=${made('hex', 32)}`], miss: ['_gitlab_session=x'] },
  'harness-token': {
    hit: [`pat.${made('url', 22)}.${made('hex', 24)}.${made('alnum', 20)}`],
    miss: ['pat.id.name'],
  },
  'octopus-key': { hit: [`API-${made('upper', 28)}`], miss: ['API-REFERENCE'] },
  'dependency-track-key': { hit: [`odt_${made('alnum', 40)}`], miss: ['odt_file'] },
  'security-tool-key': {
    hit: [`hawk.${made('url', 20)}.${made('url', 20, 2)}`, `rootly_${made('hex', 64)}`],
    miss: ['hawk.eye.x'],
  },
  'deno-token': { hit: [`ddp_${made('alnum', 36)}`], miss: ['ddp_x'] },
  'develop-tool-key': { hit: [`apify_api_${made('alnum', 36)}`, `e2b_${made('hex', 40)}`], miss: ['apify_api_key'] },
  'rapidapi-key': {
    hit: [`${made('hex', 10)}msh${made('hex', 15)}p1${made('hex', 6)}jsn${made('hex', 12)}`],
    miss: ['msh1'],
  },
  'live-or-test-key': {
    hit: [`live_${made('alnum', 30)}`, `test_${made('hex', 35)}`],
    miss: ['live_reload', 'test_case_1'],
  },
  'instagram-token': { hit: [`IGQV${made('alnum', 120)}`], miss: ['IGQV'] },
  'facebook-app-token': { hit: [`${made('digits', 15)}|${made('url', 27)}`], miss: ['123|456', '| 1 | 2 |'] },
  'webhook-address': {
    hit: [`https://hooks.zapier.com/hooks/catch/${made('digits', 7)}/${made('lower', 7)}/`],
    miss: ['tines.com/webhook/'],
  },
  'maxmind-key': { hit: [`${made('alnum', 6)}_${made('alnum', 29)}_mmk`], miss: ['a_mmk'] },
  'adobe-secret': { hit: [`p8e-${made('lower', 32)}`], miss: ['p8e-'] },
  'salesforce-token': { hit: [`00D${made('alnum', 12)}!${made('alnum', 96)}`], miss: ['00D0'] },
  'adafruit-key': { hit: [`aio_${made('alnum', 28)}`], miss: ['aio_write'] },
  'intra-42-secret': { hit: [`s-s4t2ud-${made('hex', 64)}`], miss: ['s-s4t2ud-'] },
  'ubidots-token': { hit: [`BBFF-${made('alnum', 30)}`], miss: ['BBFF-'] },
  'alchemy-key': { hit: [`alcht_${made('alnum', 30)}`], miss: ['alcht_'] },
  'intercom-token': { hit: [`dG9rOg${made('alnum', 50)}=`], miss: ['dG9rOg'] },
  'password-hash': {
    hit: [
      hash('ada:$2b$12$', 53),
      `root:$6$${made('alnum', 16)}$${made('alnum', 86)}:19000:0`,
      hash('$1$abcdefgh$', 22),
    ],
    miss: ['replace("$1$2")', '$2b$12$salt'],
  },
  'seed-phrase': {
    hit: ['MNEMONIC="orbit canyon velvet ladder puzzle tiger frost anchor meadow silver copper lunar"'],
    miss: [
      'mnemonic: every good boy does fine',
      'seed phrase = twelve words that nobody but you may ever see or read at all',
    ],
  },
  'database-address-password': {
    hit: [`postgres://app:${made('alnum', 6)}/${made('alnum', 6)}@db:5432/x`, `mysql://u:p@${made('alnum', 9)}@h/x`],
    miss: ['redis://cache:6379/0?user=a@b.c'],
  },
  'piped-password': {
    hit: [`echo '${made('alnum', 9)}' | sudo -S ls`, `echo "ada:${made('alnum', 9)}" | sudo chpasswd`],
    miss: ['echo done | sudo tee x', 'echo "$PASS" | sudo tee'],
  },
  'pgpass-password': { hit: [`db.local:5432:shop:app:${made('alnum', 12)}`], miss: ['localhost:5432:5432'] },
  'sql-password': {
    hit: [`CREATE USER a IDENTIFIED BY '${made('alnum', 9)}!'`],
    miss: ['identified by its name', "IDENTIFIED BY '<password>'"],
  },
};
