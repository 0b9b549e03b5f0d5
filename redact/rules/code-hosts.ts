import { named, type Rule, rule } from './rule.ts';

/** Tokens of source hosts, registries, and build and test services, recognised by their own form. */
export const CODE_HOSTS: readonly Rule[] = [
  rule(
    'encoded-token',
    ['z2h[vwp1yz]x', 'z2l0ahvix3bhdf', 'c2stywl', 'c2styw50', 'c2stchjva', 'eg94y', 'eg94c', 'z2xwyxqt'],
    /(?:Z2h[pvw1yz]X|Z2l0aHViX3BhdF|c2stYW50LW|c2stcHJvai|eG94[YcQ]i|Z2xwYXQt)[A-Za-z0-9+/]{24,400}={0,2}/,
    {
      entropy: 4,
      yes: ['<encode ghp_<alnum 36>>', '<encode sk-ant-api03-<alnum 80>>', '<encode glpat-<alnum 20>>'],
      no: ['Z2hwX', 'eG94Y'],
    },
  ),
  rule('jenkins-secret', ['aqaaabaaa'], /AQAAABAAA([A-Za-z0-9+/]{20,400}={0,2}| [^\s<>{}]{8,400})/, {
    entropy: 2.8,
    yes: ['<secret>{AQAAABAAA<base64 60>=}</secret>', '<secret>{AQAAABAAA <alnum 32>}</secret>'],
    no: 'AQAAABAAA',
  }),
  rule(
    'kubernetes-bootstrap-token',
    ['bootstrap_token', 'bootstrap-token', '--token ', '--discovery-token'],
    /(?:bootstrap[_-]token|--token|--discovery-token)["']?[:= ]{1,3}["']?([a-z0-9]{6}\.[a-z0-9]{16})(?![\w.-])/i,
    { inside: true, yes: 'kubeadm join --token <lower 6>.<lower 16>', no: '--token process.env' },
  ),
  rule('github-token', ['gh[pousr]_'], /gh[pousr]_[A-Za-z0-9]{36,255}/, {
    entropy: 3,
    yes: ['ghp_<alnum 36>', 'x-access-token:ghs_<alnum 36 2>@'],
    no: 'ghp_xxxxxxxx',
  }),
  rule('github-token-jwt', ['ghs_', 'ghu_'], /gh[su]_\d{1,12}_eyJ[\w.-]{60,1500}/, {
    yes: 'ghs_123_eyJ<url 200>',
    no: 'ghs_1',
  }),
  rule('github-fine-grained-token', ['github_pat_'], /github_pat_[A-Za-z0-9_]{36,255}/, {
    entropy: 3,
    yes: 'github_pat_<alnum 22>_<alnum 59>',
    no: 'github_pat_...',
  }),
  rule(
    'gitlab-token',
    [
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
      'glwt-',
    ],
    /gl(?:pat|dt|ptt|rt|rtr|cbt|ft|imt|agent|soat|ffct|oas|wt)-(?:[0-9a-zA-Z]{1,5}_)?[\w.-]{20,300}/,
    { entropy: 3, yes: ['glpat-<url 20>', 'PRIVATE-TOKEN: glptt-<hex 40>'], no: 'glpat-xxxxxxxxxxxxxxxxxxxx' },
  ),
  rule('gitlab-registration-token', ['gr1348941'], /GR1348941[\w-]{20,50}/, {
    yes: 'GR1348941<url 20>',
    no: 'GR1348941',
  }),
  rule('gitlab-session', ['_gitlab_session='], /_gitlab_session=([0-9a-z]{32})/, {
    yes: '_gitlab_session=<hex 32>',
    no: '_gitlab_session=x',
  }),
  rule(
    'bitbucket-token',
    ['atbb', 'atctt3', 'bbdc-'],
    /(?:ATBB[A-Za-z0-9_=.-]{24,40}|ATCTT3[\w=.-]{60,400}|BBDC-[A-Za-z0-9+/@_-]{40,50})/,
    { entropy: 3.5, yes: ['ATCTT3xFfGN0<url 180>', 'ATBB<alnum 24><upper 8>'], no: 'ATBB' },
  ),
  rule(
    'sourcegraph-token',
    ['sgp_', 'sgd_', 'slk_'],
    /(?:sgp_(?:(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}|[A-Za-z0-9]{64})|s(?:gd|lk)_[a-f0-9]{64})/,
    { yes: ['sgp_<hex 16>_<hex 40>', 'sgd_<hex 64>', 'slk_<hex 64>'], no: 'sgp_' },
  ),
  rule('sonar-token', ['sq[upa]_', 'sqco_'], /sq(?:[upa]|co)_[a-f0-9]{40}/, { yes: 'sqp_<hex 40>', no: 'squ_are' }),
  rule('circleci-token', ['ccipat_', 'ccipra_', 'ccipr[jq]_'], /CCIP(?:AT|RA|RJ|RQ)_\w{20,24}_[a-f0-9]{40}/, {
    no: 'circle: 40',
    yes: 'CCIPAT_<alnum 22>_<hex 40>',
  }),
  named('circleci-token', ['circle'], /circle\w{0,12}token/, /([a-f0-9]{40})/, {
    no: 'circle: 40',
    yes: 'CIRCLECI_TOKEN=<hex 40>',
  }),
  rule('buildkite-token', ['bkua_', 'bkct_', 'bkat_', 'bkaj_', 'bkpt_'], /bk(?:ua|ct|at|aj|pt)_[A-Za-z0-9]{40,64}/, {
    yes: 'bkua_<hex 40>',
    no: 'bkua_',
  }),
  rule('snyk-token', ['snyk_uat.', 'snyk_sat.'], /snyk_[us]at\.[0-9a-f]{8}\.[\w-]{40,200}/, {
    yes: 'snyk_uat.<hex 8>.<url 86>',
    no: 'snyk_uat.',
  }),
  rule('gitea-key', ['gto_', 'gta_'], /gt[oa]_[a-z0-9]{40,52}/, { entropy: 3.5, yes: 'gto_<lower 52>', no: 'gto_x' }),
  rule('npm-token', ['npm_'], /npm_[A-Za-z0-9]{36,80}/, {
    entropy: 3,
    yes: 'npm_<alnum 36>',
    no: ['npm_config_registry', 'npm_lifecycle_event'],
  }),
  rule(
    'npmrc-token',
    ['_authtoken', '_auth', '_password'],
    /_(?:authToken|auth|password)[ \t]{0,3}=[ \t]{0,3}"?(?![A-Za-z_]{1,40}\.[A-Za-z_]{1,40}(?![\w.-])|_(?:auth|password))(?:(?<=:_\w{4,9}[ \t]{0,3}=[ \t]{0,3}"?)|(?=[A-Za-z+/=._-]{0,60}\d))([\w+/=.-]{16,500})/,
    {
      entropy: 3,
      yes: ['//registry/:_authToken=<hex 36>', '_auth=<base64 24>'],
      no: ['_authToken=$NPM_TOKEN', 'self._password = handler.password'],
    },
  ),
  rule('pypi-token', ['pypi-'], /pypi-[\w-]{60,400}/, {
    entropy: 3.8,
    yes: 'pypi-AgEIcHlwaS5vcmc<url 120>',
    no: 'pypi-publish',
  }),
  rule('docker-token', ['dckr_pat_', 'dckr_oat_', 'dckr_sat_'], /dckr_[ops]at_[\w-]{27,60}/, {
    yes: 'dckr_pat_<url 27>',
    no: 'dckr_pat_',
  }),
  rule('rubygems-key', ['rubygems_'], /rubygems_[a-f0-9]{48}/, { yes: 'rubygems_<hex 48>', no: 'rubygems_version' }),
  rule('crates-token', ['cio'], /cio[A-Za-z0-9]{32}(?![A-Za-z0-9])/, { entropy: 4, yes: 'cio<alnum 32>', no: 'cio' }),
  rule('nuget-key', ['oy2'], /oy2[a-z0-9]{43}(?![A-Za-z0-9])/, { entropy: 4, yes: 'oy2<lower 43>', no: 'oy2' }),
  rule('clojars-token', ['clojars_'], /CLOJARS_[a-z0-9]{60}/i, { yes: 'CLOJARS_<lower 60>', no: 'CLOJARS_USERNAME' }),
  rule('artifactory-token', ['akcp', 'cmvmdgtu'], /(?:AKCp[A-Za-z0-9]{60,80}|cmVmdGtu[A-Za-z0-9]{56})(?![A-Za-z0-9])/, {
    entropy: 4,
    yes: ['AKCp<alnum 69>', 'cmVmdGtu<alnum 56>'],
    no: 'AP1',
  }),
  rule('packagist-token', ['packagist_'], /packagist_(?:[ou][ru]t|ac[ks])_[a-f0-9]{28,90}/, {
    yes: ['packagist_out_<hex 68>', 'packagist_acs_<hex 68>'],
    no: 'packagist_url',
  }),
  rule('sentry-token', ['sntrys_', 'sntry[uai]_'], /sntry(?:s_[A-Za-z0-9+/=_-]{60,500}|[uai]_[a-f0-9]{64})/, {
    yes: ['sntryu_<hex 64>', 'sntrys_eyJ<base64 120>'],
    no: 'sntrys_',
  }),
  rule('postman-key', ['pmak-', 'pmat-'], /(?:PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{34}|PMAT-[A-Z0-9]{26})/, {
    yes: 'PMAK-<hex 24>-<hex 34>',
    no: 'PMAK-',
  }),
  rule('harness-token', ['pat.', 'sat.'], /[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}/, {
    yes: 'pat.<url 22>.<hex 24>.<alnum 20>',
    no: 'pat.id.name',
  }),
  rule('octopus-key', ['api-'], /API-[A-Z0-9]{25,32}(?![A-Za-z0-9])/, {
    entropy: 3.3,
    yes: 'API-<upper 28>',
    no: 'API-REFERENCE',
  }),
  rule('dependency-track-key', ['odt_'], /odt_[A-Za-z0-9_]{32,60}/, {
    entropy: 3.3,
    yes: 'odt_<alnum 40>',
    no: 'odt_file',
  }),
  rule(
    'security-tool-key',
    ['hawk.', 'endr+', 'rootly_', 'essu_'],
    /(?:hawk\.[\w-]{20}\.[\w-]{20}|endr\+[A-Za-z0-9-]{16}|rootly_[a-f0-9]{64}|essu_[A-Za-z0-9+/]{40,300}={0,2})/,
    { entropy: 3, yes: ['hawk.<url 20>.<url 20 2>', 'rootly_<hex 64>'], no: 'hawk.eye.x' },
  ),
  rule('deno-token', ['ddp_', 'ddw_', 'ddo_'], /dd[pwo]_[A-Za-z0-9]{36,80}/, {
    entropy: 3,
    yes: 'ddp_<alnum 36>',
    no: 'ddp_x',
  }),
  rule(
    'develop-tool-key',
    ['vtwn_', 'e2b_', 'apify_api_', 'bb_live_', 'apk_user_', 'waka_', 'xau_', 'depot_'],
    /(?:vtwn_[A-Za-z0-9]{24,40}|e2b_[0-9a-f]{40}|apify_api_[\w-]{36}|bb_live_[\w-]{27}|apk_user_[A-Za-z0-9=_-]{40,200}|waka_[\w-]{36,48}|xau_[A-Za-z0-9]{36,48}|depot_[a-z]{2,8}_[a-f0-9]{64})/,
    { entropy: 3, yes: ['apify_api_<alnum 36>', 'e2b_<hex 40>'], no: 'apify_api_key' },
  ),
  rule(
    'sandbox-key',
    ['dtn_', 'csb_v1_', 'ste-'],
    /(?:dtn_[a-f0-9]{64}|csb_v1_[\w-]{43}|ste-[A-Za-z0-9]{60,100})(?![\w-])/,
    { entropy: 3, yes: ['dtn_<hex 64>', 'csb_v1_<url 43>', 'ste-<alnum 64>'], no: ['dtn_x', 'ste-p'] },
  ),
  rule(
    'code-scan-token',
    ['spu-', 'cosmo_', 'pga[rmw]_'],
    /(?:spu-[a-z0-9]{32}|cosmo_[a-f0-9]{32}|pga[rmw]_[\w-]{27})(?![\w-])/,
    {
      entropy: 3,
      yes: ['spu-<lower 32>', 'cosmo_<hex 32>', 'pgar_<alnum 27>'],
      no: ['cosmo_', 'spu-<hex 8>'],
    },
  ),
  rule('rapidapi-key', ['msh[0123456789abcdef]'], /[0-9a-f]{10}msh[0-9a-f]{13,16}p1[0-9a-f]{5,6}jsn[0-9a-f]{12}/, {
    lead: 10,
    yes: '<hex 10>msh<hex 15>p1<hex 6>jsn<hex 12>',
    no: 'msh1',
  }),
];
