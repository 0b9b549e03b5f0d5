/** Tokens of providers that can be told by their own form, a line each; see `readRules`. */
export const CLOUD_TOKENS = String.raw`
aws-access-key  akia,asia,abia,acca  (?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}{!}  e3
aws-secret-key  aws,secretaccesskey,secret_access_key,secret\x20access\x20key  (?:aws|secret[_\x20]?access[_\x20]?key){=}(?=[A-Za-z+/]{0,39}\d)(?!policy/)([A-Za-z0-9+/]{40})  e4
aws-session-token  session_token,sessiontoken,x-amz-security-token  (?:session_?token|x-amz-security-token){=}([A-Za-z0-9+/%]{100,2000}={0,2})  e4
aws-bedrock-key  absk,bedrock-api-key-  (?:ABSK|bedrock-api-key-)[A-Za-z0-9+/]{60,1500}={0,2}  e4
aws-service-key  amzn.mws.,da2-  (?:amzn\.mws\.{uuid}|da2-[a-z0-9]{26}{!})
google-api-key  aiza  AIza[\w-]{35}(?![\w-])  e3.5
google-client-secret  gocspx-  GOCSPX-[\w-]{28}
google-access-token  ya29.  ya29\.[\w-]{30,1500}  e3.5
google-refresh-token  1//0  1//0[\w-]{40,200}  e3.5
gemini-key  aq.ab  AQ\.Ab[\w-]{30,80}
azure-client-secret  q~  [\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])  e3.5 lead4
azure-account-key  accountkey=,sharedaccesskey=,sharedsecretkey=,shared_access_key=  \w{10,20}=([A-Za-z0-9+/]{43,86}={0,2})  e4 inside
azure-shared-access-signature  sig=  sig=((?:[A-Za-z0-9+/]|%2[bf]){40,86}(?:%3d|=){0,2})  i e4
azure-service-key  jqqj9  [A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{26,30}={0,2}  lead52
azure-storage-key  +ast,+amc,+aba  [A-Za-z0-9+/]{76}\+A(?:St|MC|Ba)[A-Za-z0-9+/]{5}[AQgw]==  lead76
azure-database-key  acdb,apim  [A-Za-z0-9+/]{76}(?:ACDb|APIM)[A-Za-z0-9+/]{5}[AQgw]==  lead76
azure-bus-key  aiot,+asb,+aeh,+arm  [A-Za-z0-9+/]{33}(?:AIoT|\+A(?:Sb|Eh|Rm))[A-Za-z0-9+/]{5}[A-Za-z0-9+/]=  lead33
azure-cache-key  azca,azeg  [A-Za-z0-9]{33}Az(?:Ca|EG)[A-Za-z0-9]{6}=  i lead33
azure-search-key  azse,+acr  [A-Za-z0-9+/]{42}(?:AzSe|\+ACR)[A-D][A-Za-z0-9+/]{5}  lead42
azure-function-key  azfu  [\w-]{44}AzFu[\w-]{5}[AQgw]==  lead44
azure-devops-token  azdo  [A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}{!}  lead76
alibaba-access-key  ltai,sts.n  (?:LTAI[A-Za-z0-9]{12,26}{!}|STS\.N[A-Za-z0-9]{20,40})  e3.2
tencent-secret-id  akid  AKID[A-Za-z0-9]{32}{!}  e3.5
yandex-cloud-key  aqvn,y0_,ycaj,yc[abcdefghijklmnopqrstuvwxyz]  (?:AQVN[\w-]{35,38}|y0_[\w-]{40,70}|YCAJE[\w-]{20}|YC[A-Z][\w-]{38})(?![\w+/-])  e3.8
cloudflare-prefixed-token  cfut_,cfat_,cfk_,v1.0-  (?:cf(?:ut|at|k)_[A-Za-z0-9]{40,60}|v1\.0-[\w.-]{100,400})  e3.3
digitalocean-token  do[oprt]_v1_  do[oprt]_v1_[a-f0-9]{64}
heroku-prefixed-key  hrku-  HRKU-[\w-]{36,80}
vercel-prefixed-token  vc[picrak]_,vercel_blob_rw_  (?:vc[picrak]_[\w-]{24,70}|vercel_blob_rw_[A-Za-z0-9]{10,24}_[A-Za-z0-9]{24,40})  e3.5
netlify-token  nf[pcoub]_  nf[pcoub]_[A-Za-z0-9]{36,40}
fly-token  fm1,fm2_,fo1_  (?:(?<![\w/+-])|(?<=\\[nrt]))(?:fm[12][ar]?_[A-Za-z0-9+/_-]{80,2000}={0,2}|fo1_[\w-]{43})  e3.5
supabase-key  sbp_,sb_secret_  (?:sbp_(?:v0_|oauth_)?[a-f0-9]{40}|sb_secret_[\w-]{25,60})
firebase-messaging-key  aaaa  AAAA[\w-]{7}:[\w-]{140}  e4
render-key  rnd_  rnd_[A-Za-z0-9]{28,40}  e3.5
tailscale-key  tskey-  tskey-(?:[a-z]{3,10}-)?[A-Za-z0-9]{8,24}(?:CNTRL)?-[\w-]{20,120}
vault-token  hvs.,hvb.,hvr.  hv[sbr]\.[\w-]{24,300}  e3.3
vault-batch-token  b.aaaaaq  b\.AAAAAQ[\w-]{80,300}
terraform-token  .atlasv1.  [A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}  lead14
pulumi-token  pul-  pul-[a-f0-9]{40}
doppler-token  dp.pt.,dp.st.,dp.ct.,dp.sa.,dp.scim.,dp.audit.,dp.said.  dp\.(?:pt|st|ct|sa|said|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}
scalingo-token  tk-us-  tk-us-[\w-]{48}
openshift-token  sha256~  sha256~[\w-]{43}(?![\w-])
docker-swarm-key  swmkey-1-,swmtkn-1-  SWM(?:KEY-1-[\w+/]{43}|TKN-1-[a-z0-9]{50}-[a-z0-9]{25})
defined-network-key  dnkey-  dnkey-[A-Z0-9=_-]{26}-[A-Z0-9=_-]{52}  i
cloud-tool-key  ucat_,nbp_,dbt[cus]_,configcat-sdk-,ico-,pnu_,pnb_,unkey_  (?:ucat_[A-Z0-9]{26}|nbp_[A-Za-z0-9]{36}|dbt[cus]_[\w=-]{32,64}|configcat-sdk-\d/[\w-]{22}/[\w-]{22}|ico-[A-Za-z0-9]{32}|pn[ub]_[A-Za-z0-9]{36}|unkey_[A-Za-z0-9]{16,44}){!}  e3
`;

export const CODE_TOKENS = String.raw`
github-token  gh[pousr]_  gh[pousr]_[A-Za-z0-9]{36,255}  e3
github-token-jwt  ghs_,ghu_  gh[su]_\d{1,12}_eyJ[\w.-]{60,1500}
github-fine-grained-token  github_pat_  github_pat_[A-Za-z0-9_]{36,255}  e3
gitlab-token  glpat-,gldt-,glptt-,glrt-,glrtr-,glcbt-,glft-,glimt-,glagent-,glsoat-,glffct-,gloas-,glwt-  gl(?:pat|dt|ptt|rt|rtr|cbt|ft|imt|agent|soat|ffct|oas|wt)-(?:[0-9a-zA-Z]{1,5}_)?[\w.-]{20,300}  e3
gitlab-registration-token  gr1348941  GR1348941[\w-]{20,50}
gitlab-session  _gitlab_session=  _gitlab_session=([0-9a-z]{32})
bitbucket-token  atbb,atctt3,bbdc-  (?:ATBB[A-Za-z0-9_=.-]{24,40}|ATCTT3[\w=.-]{60,400}|BBDC-[A-Za-z0-9+/@_-]{40,50})  e3.5
sourcegraph-token  sgp_  sgp_(?:(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}|[A-Za-z0-9]{64})
sonar-token  sq[upa]_,sqco_  sq(?:[upa]|co)_[a-f0-9]{40}
circleci-token  ccipat_,ccipra_,ccipr[jq]_,circle  (?:CCIP(?:AT|RA|RJ|RQ)_\w{20,24}_[a-f0-9]{40}|circle\w{0,12}token{=}([a-f0-9]{40}))
buildkite-token  bkua_,bkct_,bkat_  bk(?:ua|ct|at)_[A-Za-z0-9]{40}
snyk-token  snyk_uat.,snyk_sat.  snyk_[us]at\.[0-9a-f]{8}\.[\w-]{40,200}
gitea-key  gto_,gta_  gt[oa]_[a-z0-9]{40,52}  e3.5
npm-token  npm_  npm_[A-Za-z0-9]{36}{!}  e3
npmrc-token  _authtoken,_auth,_password  _(?:authToken|auth|password)[\x20\t]{0,3}=[\x20\t]{0,3}"?(?![A-Za-z_]{1,40}\.[A-Za-z_]{1,40}(?![\w.-])|_(?:auth|password))(?:(?<=:_\w{4,9}[\x20\t]{0,3}=[\x20\t]{0,3}"?)|(?=[A-Za-z+/=._-]{0,60}\d))([\w+/=.-]{16,500})  e3
pypi-token  pypi-  pypi-[\w-]{60,400}  e3.8
docker-token  dckr_pat_,dckr_oat_,dckr_sat_  dckr_[ops]at_[\w-]{27,60}
rubygems-key  rubygems_  rubygems_[a-f0-9]{48}
crates-token  cio  cio[A-Za-z0-9]{32}{!}  e4
nuget-key  oy2  oy2[a-z0-9]{43}{!}  e4
clojars-token  clojars_  CLOJARS_[a-z0-9]{60}  i
artifactory-token  akcp,cmvmdgtu  (?:AKCp[A-Za-z0-9]{60,80}|cmVmdGtu[A-Za-z0-9]{56}){!}  e4
packagist-token  packagist_  packagist_(?:[ou][ru]t|ack)_[a-f0-9]{28,90}
sentry-token  sntrys_,sntry[uai]_  sntry(?:s_[A-Za-z0-9+/=_-]{60,500}|[uai]_[a-f0-9]{64})
postman-key  pmak-,pmat-  (?:PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{34}|PMAT-[A-Z0-9]{26})
harness-token  pat.,sat.  [ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}
octopus-key  api-  API-[A-Z0-9]{25,32}{!}  e3.3
dependency-track-key  odt_  odt_[A-Za-z0-9_]{32,60}  e3.3
security-tool-key  hawk.,endr+,rootly_,essu_  (?:hawk\.[\w-]{20}\.[\w-]{20}|endr\+[A-Za-z0-9-]{16}|rootly_[a-f0-9]{64}|essu_[A-Za-z0-9+/]{40,300}={0,2})  e3
deno-token  ddp_,ddw_,ddo_  dd[pwo]_[A-Za-z0-9]{36}{!}  e3
develop-tool-key  vtwn_,e2b_,apify_api_,bb_live_,apk_user_,waka_,xau_,depot_  (?:vtwn_[A-Za-z0-9]{24,40}|e2b_[0-9a-f]{40}|apify_api_[A-Za-z0-9]{36}|bb_live_[\w-]{27}|apk_user_[A-Za-z0-9=_-]{40,200}|waka_[\w-]{36,48}|xau_[A-Za-z0-9]{36,48}|depot_[a-z]{2,8}_[a-f0-9]{64})  e3
rapidapi-key  msh[0123456789abcdef]  [0-9a-f]{10}msh[0-9a-f]{13,16}p1[0-9a-f]{5,6}jsn[0-9a-f]{12}  lead10
`;

export const MODEL_TOKENS = String.raw`
anthropic-key  sk-ant-  sk-ant-(?:[a-z]{2,10}\d{0,3}-)?[\w-]{32,200}  e3.5
openrouter-key  sk-or-  sk-or-(?:v\d-)?[a-f0-9]{48,64}
openai-key  sk-  sk-(?:(?:proj|svcacct|admin|None|service)-[\w-]{30,250}|[A-Za-z0-9]{32,64}(?![\w-]))  e3.3
openai-session  sess-  sess-[A-Za-z0-9]{40}{!}  e4
huggingface-token  hf_,api_org_  (?:hf_|api_org_)[A-Za-z0-9]{34,40}{!}  e3.5
replicate-token  r8_  r8_[A-Za-z0-9]{37,40}
groq-key  gsk_  gsk_[A-Za-z0-9]{48,60}
perplexity-key  pplx-  pplx-[A-Za-z0-9]{48,64}
xai-key  xai-  xai-(?:token-)?[\w-]{70,90}
nvidia-key  nvapi-  nvapi-[\w-]{60,70}
elevenlabs-key  sk_  sk_[0-9a-f]{48}{!}
langsmith-key  lsv2_,sk-lf-  (?:lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|sk-lf-[0-9a-f-]{36})
pinecone-key  pcsk_  pcsk_[A-Za-z0-9_]{60,80}
model-tool-key  tvly-,fc-,jina_,csk-,fw_,tgp_v1_,pa-,crsr_,llx-,flp_,pplx-,rpa_,wandb_v1_  (?:tvly-(?:dev-)?[A-Za-z0-9]{32}|fc-[0-9a-f]{32}|jina_[\w-]{50,64}|csk-[a-z0-9]{48}|fw_[A-Za-z0-9]{22,30}|tgp_v1_[\w-]{40,48}|pa-[\w-]{43}|crsr_[0-9a-f]{64}|llx-[A-Za-z0-9]{46,52}|flp_[A-Za-z0-9]{40,50}|rpa_[A-Z0-9]{30,50}|wandb_v1_[\w-]{60,90})(?![\w-])  e3.5
`;

export const BUSINESS_TOKENS = String.raw`
secret-key  [sr]k_live_,[sr]k_test_,[sr]k_prod_  [sr]k_(?:live|test|prod)_[\w-]{10,250}  e3
webhook-secret  whsec_  whsec_[A-Za-z0-9+/=]{24,80}  e3.5
paypal-braintree-token  access_token$  access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}
square-token  sq0[acigp],eaaa  (?:sq0[a-z]{3}-[\w-]{22,43}|EAAA[\w+=-]{56,64}(?![\w-]))  e3.5
shopify-token  shp[abcdefghijklmnopqrstuvwxyz]  shp[a-z]{2}_[A-Za-z0-9]{32}  e3
razorpay-key  rzp_live_,rzp_test_  rzp_(?:live|test)_[A-Za-z0-9]{14,24}  e3
plaid-token  access-sandbox-,access-production-,access-development-  access-(?:sandbox|production|development)-[0-9a-f-]{36}
payment-provider-key  flwseck,pdl_live_,pdl_sdbx_,ezak,eztk,aqe,mid-server-,xnd_  (?:FLWSECK(?:_TEST|_LIVE)?-[A-Za-z0-9]{12,32}(?:-X)?|pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}|EZ[AT]K[A-Za-z0-9]{54}|AQE[a-z][A-Za-z0-9+/=]{80,200}-[A-Za-z0-9+/=]{40,60}-\S{10,20}|Mid-server-[\w-]{24}|xnd_(?:development|production)_[\w=]{30,80})  e3.3
live-or-test-key  live_,test_,shippo_live_,shippo_test_,sandbox_  (?:(?:live|sandbox)_(?=[A-Za-z_=-]{0,29}\d)(?:[\w=-]{40}|[0-9a-f]{35}|[A-Za-z0-9]{30})|live_\d{6,10}_[A-Za-z0-9]{30}|test_(?=[A-Za-z]{0,29}\d)(?:[0-9a-f]{35}|[A-Za-z0-9]{30})|shippo_(?:live|test)_[a-f0-9]{40}){!}  e3.5
slack-token  xox[abcdeoprs]-,xoxe.  xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9%/+=-]{16,400}  e2.8
slack-app-token  xapp-  xapp-\d-[A-Z0-9]{6,20}-\d{8,20}-[a-z0-9]{24,80}  i
slack-webhook  hooks.slack.com/  hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{30,100})  e3
discord-webhook  /api/webhooks/  /api/webhooks/\d{17,20}/([\w-]{60,80})  inside
discord-token  m[tdjz][aeimquycgk],n[tdjz][aeimquycgk],o[td][aeimquycgk]  [MNO][TDjz][\w-]{21,26}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])  e4
telegram-token  :aa  (?<=\d{8,10}):AA[\w-]{32,34}(?![\w-])  e3.5 inside
twilio-key  sk[0123456789abcdef]  SK[0-9a-f]{32}{!}  i e3
twilio-account  ac[0123456789abcdef]  AC[0-9a-f]{32}["'\x60\s:,]{1,6}([0-9a-f]{32}){!}  e3
sendgrid-key  sg.  SG\.[\w-]{16,32}\.[\w-]{32,64}  e3.5
mailgun-key  key-  key-[0-9a-zA-Z]{32}{!}  e3.2
mailchimp-key  -us[123456789]  [0-9a-f]{32}-us\d{1,2}{!}  e3 lead32
mail-service-key  xkeysib-,xsmtpsib-,re_,mlsn.,md-,os_v2_  (?:x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{22,26}{!}|mlsn\.[a-f0-9]{64}|md-(?=[A-Za-z_-]{0,21}\d)[\w-]{22}(?![\w-])|os_v2_[a-z]{3}_[a-z0-9]{60,120})  e3.5
teams-webhook  /webhookb2/,/incomingwebhook/,outlook.office.com/webhook/  /(?:webhookb2|IncomingWebhook|webhook)/([0-9a-fA-F@/-]{30,120}(?:IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36})?)  i inside
webhook-address  tines.com/webhook/,zapier.com/hooks/catch/  (?:tines|zapier)\.com/(?:webhook|hooks/catch)/([\w/]{12,120})  inside
facebook-token  eaa  EAA[A-Z][A-Za-z0-9]{20,400}{!}  e4
instagram-token  igqv,igaa  IG(?:QV|AA)[\w-]{60,300}  e4
facebook-app-token  [0123456789]|,[0123456789]%7c  (?<=\d{13,16})\d(?:\||%7C)([\w-]{27,40})(?![\w-])  e3.5 inside
twitter-bearer  aaaaaaaaaaaaaaaaaaaaa  A{21,22}[A-Za-z0-9%]{60,120}{!}  e3.5
databricks-token  dapi,dose,dkea  (?:dapi|dose|dkea)[0-9a-f]{32}(?:-\d)?{!}  e3
database-service-secret  pscale_,mdb_sa_sk_,ccdb1_,fna  (?:(?:pscale_(?:tkn|pw|oauth|api)_|mdb_sa_sk_)[\w.=-]{32,64}|CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}|fnA[\w-]{37})(?![\w-])  e3.3
neon-key  napi_,npg_  (?:napi_[a-z0-9]{50,80}|npg_[A-Za-z0-9]{12,20}{!})  e3.3
airtable-token  pat,oaa  (?:pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|oaa[A-Za-z0-9]{14,16}\.v1\.[\w=./+-]{40,600})
datadog-prefixed-key  ddapp_,ddpat_  dd(?:app|pat)_[A-Za-z0-9_-]{34,60}
new-relic-key  nrak-,nrii-,nrjs-,nraa-,nriq-,nrbr-,nrma-  NR(?:AK|II|JS|AA|IQ|BR|MA)-[A-Za-z0-9_-]{19,40}  e3
new-relic-license  nral  (?:eu01xx|[0-9a-f]{6})[0-9a-f]{30}NRAL{!}  i lead36
new-relic-license  eu01xx  eu01xx[0-9a-f]{20,40}-?NR(?:AL|MA)  i
grafana-token  glsa_,glc_,eyjrijoi  (?:glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/]{32,500}={0,2}|eyJrIjoi[A-Za-z0-9]{60,400}={0,2})  e3.3
dynatrace-token  dt0c01.,dt0s[0123456789]  dt0[cs]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}
analytics-key  ph[xcsra]_,xaat-,xapt-,pylf_v,hcaik_,hcaic_  (?:ph[xcsra]_[\w-]{40,50}|xa[ap]t-[0-9a-f-]{36}|pylf_v\d_[a-z]{2}_[A-Za-z0-9]{40,50}|hcai[kc]_[a-z0-9]{55,64})  e3
linear-key  lin_api_,lin_oauth_,lin_wh_  lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,64}
notion-token  ntn_,secret_  (?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}{!})  e3.5
atlassian-token  atatt3,atoat3,atcat3  AT(?:ATT|OAT|CAT)3[\w=.-]{60,400}  e3.5
figma-token  figd_,figo_,figu_,fig[our]h_,figor_,figur_  fig[dou][hr]?_[\w-]{32,50}
hubspot-token  pat-na,pat-eu,pat-ap  pat-(?:na|eu|ap)\d-[0-9a-f-]{36}  i
contentful-token  cfpat-  CFPAT-[\w-]{43}
typeform-token  tfp_  tfp_[A-Za-z0-9_.=-]{40,64}
mapbox-token  sk.eyj,tk.eyj  [st]k\.eyJ[\w-]{20,300}\.[\w-]{20,24}
dropbox-token  sl.  sl\.(?:u\.)?[\w-]{130,1500}  e4
launchdarkly-key  sdk-,api-,mob-  (?:sdk|api|mob)-{uuid}  i
maxmind-key  _mmk  [A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk{!}  lead36
salesforce-token  00d,5aep,3mvg  (?:00D[A-Za-z0-9]{12,15}!\.?[\w.]{60,160}|5Aep[\w.=]{70,120}|3MVG[\w.]{70,100})  e3.5
adobe-secret  p8e-  p8e-[a-z0-9-]{32}{!}  i e3
adafruit-key  aio_  aio_[A-Za-z0-9]{28}{!}  e3
intra-42-secret  s-s4t2  s-s4t2(?:ud|af)-[a-f0-9]{64}
ubidots-token  bbff-,bbus-,bbfe-  BB(?:FF|US|FE)-[A-Za-z0-9]{30}
alchemy-key  alcht_  alcht_[A-Za-z0-9]{30}{!}  e3
intercom-token  dg9rog  dG9rOg[A-Za-z0-9+/=]{40,80}
work-tool-key  rdme_,fio-u-,duffel_,atta,pk_,cal_live_,pina_,db-  (?:rdme_[a-z0-9]{70}|fio-u-[\w=-]{64}|duffel_(?:test|live)_[\w=-]{43}|ATTA[0-9a-fA-F]{60,72}|pk_\d{6,10}_[A-Z0-9]{32}|cal_live_[a-f0-9]{32}|pina_[A-Z0-9]{60,100}|db-[A-Za-z0-9]{29}{!})  i e3.5
onepassword-token  ops_eyj,a3-  (?:ops_eyJ[A-Za-z0-9+/=_-]{200,2000}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})  e3
age-key  age-secret-key-1  AGE-SECRET-KEY-1[A-Z0-9]{58}  i
infisical-token  st.  st\.[0-9a-f]{8}-?[0-9a-f]{16,28}\.[0-9a-f]{32}\.[0-9a-f]{32}
`;
