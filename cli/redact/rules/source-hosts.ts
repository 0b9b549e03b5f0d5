import { made } from './made.ts';
import { assigned, type Rule } from './rule.ts';

/** Source hosts, and the services that build and check what is hosted there. */
export const SOURCE_HOST_RULES: readonly Rule[] = [
  {
    id: 'github-token',
    keywords: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    pattern: /gh[pousr]_[A-Za-z0-9]{36,255}/,
    entropy: 3,
    examples: {
      hit: [`ghp_${made('alnum', 36)}`, `x-access-token:ghs_${made('alnum', 36, 2)}@`],
      miss: ['ghp_xxxxxxxx'],
    },
  },
  {
    id: 'github-token-jwt',
    keywords: ['ghs_', 'ghu_'],
    pattern: /gh[su]_\d{1,12}_eyJ[\w.-]{60,1500}/,
    examples: { hit: [`ghs_123_eyJ${made('url', 200)}`], miss: ['ghs_1'] },
  },
  {
    id: 'github-fine-grained-token',
    keywords: ['github_pat_'],
    pattern: /github_pat_[A-Za-z0-9]{20,24}_[A-Za-z0-9]{55,62}/,
    examples: { hit: [`github_pat_${made('alnum', 22)}_${made('alnum', 59)}`], miss: ['github_pat_...'] },
  },
  {
    id: 'gitlab-token',
    keywords: [
      'glpat-',
      'gldt-',
      'glptt-',
      'glrt-',
      'glrtr-',
      'glcbt-',
      'glft-',
      'glimt-',
      'glagent-',
      'glsoat-',
      'glffct-',
      'gloas-',
    ],
    pattern: /gl(?:pat|dt|ptt|rt|rtr|cbt|ft|imt|agent|soat|ffct|oas)-(?:[0-9a-zA-Z]{1,5}_)?[\w.-]{20,300}/,
    entropy: 3,
    examples: {
      hit: [`glpat-${made('url', 20)}`, `PRIVATE-TOKEN: glptt-${made('hex', 40)}`],
      miss: ['glpat-xxxxxxxxxxxxxxxxxxxx'],
    },
  },
  {
    id: 'gitlab-registration-token',
    keywords: ['gr1348941'],
    pattern: /GR1348941[\w-]{20,50}/,
    examples: { hit: [`GR1348941${made('url', 20)}`], miss: ['GR1348941'] },
  },
  {
    id: 'bitbucket-token',
    keywords: ['atbb', 'atctt3'],
    pattern: /(?:ATBB[A-Za-z0-9_=.-]{32,40}|ATCTT3[\w=.-]{60,400})/,
    entropy: 3.5,
    examples: {
      hit: [`ATBB${made('alnum', 24)}${made('hex', 8).toUpperCase()}`, `ATCTT3xFfGN0${made('url', 180)}`],
      miss: ['ATBB'],
    },
  },
  {
    id: 'sourcegraph-token',
    keywords: ['sgp_'],
    pattern: /sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}/,
    examples: { hit: [`sgp_${made('hex', 16)}_${made('hex', 40)}`], miss: ['sgp_'] },
  },
  {
    id: 'sonar-token',
    keywords: ['squ_', 'sqp_', 'sqa_'],
    pattern: /sq[upa]_[a-f0-9]{40}/,
    examples: { hit: [`sqp_${made('hex', 40)}`], miss: ['squ_are'] },
  },
  {
    id: 'circleci-token',
    keywords: ['ccipat_', 'ccipra_', 'circle'],
    pattern: new RegExp(
      `CCIP(?:AT|RA)_[\\w]{20,24}_[a-f0-9]{40}|${assigned('circle\\w{0,12}token', '[a-f0-9]{40}').source}`,
      'i',
    ),
    inside: true,
    examples: {
      hit: [`CCIPAT_${made('alnum', 22)}_${made('hex', 40)}`, `CIRCLECI_TOKEN=${made('hex', 40)}`],
      miss: ['circle: 40'],
    },
  },
  {
    id: 'buildkite-token',
    keywords: ['bkua_', 'bkct_', 'bkat_'],
    pattern: /bk(?:ua|ct|at)_[A-Za-z0-9]{40}/,
    examples: { hit: [`bkua_${made('hex', 40)}`], miss: ['bkua_'] },
  },
  {
    id: 'named-build-token',
    keywords: ['snyk', 'codecov', 'travis', 'coveralls', 'codacy', 'drone', 'gitea', 'gitee', 'bitbucket'],
    pattern: assigned(
      '(?:snyk|codecov|travis|coveralls|codacy|drone|gitea|gitee|bitbucket)[_-]?\\w{0,8}(?:token|key|secret)',
      '(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[A-Za-z0-9_+-]{22,48})',
    ),
    group: 1,
    entropy: 3,
    inside: true,
    examples: {
      hit: [`SNYK_TOKEN=${made('hex', 32)}`, `GITEA_TOKEN: ${made('hex', 40)}`],
      miss: ['CODECOV_TOKEN: <token of the repository>'],
    },
  },
  {
    id: 'snyk-token',
    keywords: ['snyk_uat.', 'snyk_sat.'],
    pattern: /snyk_[us]at\.[0-9a-f]{8}\.[\w-]{40,200}/,
    examples: { hit: [`snyk_uat.${made('hex', 8)}.${made('url', 86)}`], miss: ['snyk_uat.'] },
  },
  {
    id: 'gitea-key',
    keywords: ['gto_', 'gta_'],
    pattern: /gt[oa]_[a-z0-9]{40,52}/,
    entropy: 3.5,
    examples: { hit: [`gto_${made('lower', 52)}`], miss: ['gto_x'] },
  },
];
