/** Secrets that a vendor's name beside them tells, a line each; see `readRules`. */
export const NAMED_SECRETS = String.raw`
netlify-build-hook  netlify.com/build_hooks/  netlify\.com/build_hooks/([0-9a-f]{24})  inside
vault-named-token  vault,root\x20token:\x20  (?:vault[\w-]{0,8}token["'\x60]?[:=\x20]{1,4}["'\x60]?|Root\x20Token:\x20)(s\.[\w-]{24,120})(?![\w-])  i inside e3.3
vault-key-share  unseal\x20key\x20,recovery\x20key\x20  (?:Unseal|Recovery)\x20Key\x20\d{1,2}:\x20([A-Za-z0-9+/]{43,44}={0,2})  i inside
named-model-key  mistral,cohere,co_api,deepseek,together,wandb,ai21,voyage,stability,azure_openai,assemblyai,deepgram  (?:mistral|cohere|co_api|deepseek|together|wandb|ai21|voyage|stability|azure_openai|assemblyai|deepgram){=}([a-f0-9]{64}|[A-Za-z0-9]{40}|[A-Za-z0-9]{32})  e3.3
postmark-token  postmark  postmark{=}({uuid})
algolia-key  algoliasearch(  algoliasearch\(["'][\w-]{1,20}["'],[\x20\n]{0,4}["']([0-9a-f]{32})["']  e3
named-database-key  algolia,upstash,confluent,cockroach,elastic,meili_master,typesense,qdrant,weaviate  (?:algolia|upstash|confluent|cockroach|elastic|meili_master|typesense|qdrant|weaviate)[\w.-]{0,16}(?:key|token|secret|password){=}([A-Za-z0-9_+/=-]{24,120})  e3.3
named-monitoring-key  pagerduty,honeycomb,rollbar,bugsnag,logtail,loggly,splunk,sumologic,opsgenie,statuspage,amplitude,mixpanel  (?:pagerduty|honeycomb|rollbar|bugsnag|logtail|loggly|splunk|sumologic|opsgenie|statuspage|amplitude|mixpanel)[\w.-]{0,16}(?:key|token|secret){=}([A-Za-z0-9+_-]{20,64})  e3.2
work-tool-token  nylas,zapier,intercom,zendesk,trello,monday,clickup  (?:nylas|zapier|intercom|zendesk|trello|monday|clickup)[\w.-]{0,16}(?:key|token|secret){=}([A-Za-z0-9=_-]{24,80})  e3.5
`;

/**
 * Private keys and signed tokens. The body of a key may be wrapped, numbered (`cat -n`), indented, quoted with `>` or
 * `+`, or written as JSON with `\n`, once or twice escaped; it may also have been cut off before its last line.
 */
export const KEYS = String.raw`
private-key  -----begin  -----BEGIN[A-Z0-9\x20]{0,30}PRIVATE\x20KEY(?:\x20BLOCK)?-----(?=(?:[^-]|-(?!-)){0,240}[A-Za-z0-9+/=]{32})  inside lines
private-key-end  -----end  -----END[A-Z0-9\x20]{0,30}PRIVATE\x20KEY  inside lines-before
encoded-private-key  ls0tls1crudjti  LS0tLS1CRUdJTi(?:BQUklW|BSU0Eg|BFQyBQ|BPUEVO|BEU0Eg|BFTkNS)[A-Za-z0-9+/]{24,20000}={0,2}  lines
putty-key  private-lines:  Private-Lines:\x20\d{1,4}((?:[A-Za-z0-9+/=\r\n]|\\[nr]){40,16000})  i
json-web-token  eyj  eyJ[\w-]{12,600}\.[\w-]{12,8000}(?:\.[\w-]{0,1500})?  e3.8
encrypted-web-token  eyj  eyJ[\w-]{30,600}\.[\w-]{0,1000}\.[\w-]{16}\.[\w-]{20,8000}\.[\w-]{22}(?![\w-])  e4
password-hash  $2[abxy]$,$1$,$5$,$6$,$y$,$argon2,$apr1$  \$(?:2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|(?:[156]|apr1)\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22,86}|y\$[./A-Za-z0-9]{1,20}\$[./A-Za-z0-9]{1,90}\$[./A-Za-z0-9]{43}|argon2(?:id?|d)\$v=\d{1,3}\$[a-z0-9=,]{5,60}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,120})(?![./A-Za-z0-9])  inside
seed-phrase  mnemonic,seed\x20phrase,seed_phrase,seedphrase,recovery\x20phrase,recovery_phrase  (?:mnemonic|(?:seed|recovery)[\x20_]?phrase)\\?["']?\x20?[:=]\x20?\\?["']?(?![a-z\x20]{0,220}(?:\x20[a-z]{1,2}\x20|[a-z]{9}))([a-z]{3,8}\x20[a-z\x20]{50,220}[a-z])  i inside
`;

/**
 * Passwords in addresses, headers and command lines, whatever service they belong to. What stands
 * behind a flag is looked at before its command: a blank or a mark is no password. Last comes what begins as only tokens do
 * and is cut off by the end of its text: too short for its own rule, and too much of it to be shown.
 */
export const CONTEXTS = String.raw`
address-password  ://  ://[^\s:/@"'\x60<>\\[\]{}|$,()]{0,100}:(?!\d{1,5}(?:[/?#]|$))([^\s/@"'\x60<>\\{}:,|]{3,300})@[\w.[%-]  inside e2
database-address-password  ://  (?<=(?:postgres|postgresql|mysql2?|mariadb|mongodb|redis|rediss|amqps?|mssql|sqlserver|clickhouse|s?ftp|smtps?|ldaps?)(?:\+[a-z]{2,12})?)://[^\s:/@"'\x60<>\\[\]{}|$,()]{0,100}:(?!\d{1,5}(?:[/?#]|$))([^\s"'\x60<>\\{}|]{3,300})@[\w.[%-]  inside e2
address-token  ://  ://([\w-]{24,255})@(?:git|[\w.-]{1,80}\.[a-z]{2,10})  inside e3.5
basic-auth  basic\x20  [Bb]asic\x20([A-Za-z0-9+/]{8,500}={0,2})(?![A-Za-z0-9+/])  basic
bearer-token  bearer\x20  Bearer\x20([\w.~+/-]{20,4000}={0,2})  i e3.5
cookie  sess,sid=,sid\x20,auth,token,jwt,csrf,xsrf  [\w.%-]{0,40}=([^\s"';,=\\[\]<>{}$]{8,4096}={0,2})  i inside e3 cookie
curl-user  curl\x20,wget\x20,http\x20,https\x20,xh\x20  (?:curl|wget|http|https|xh)(?=\x20)[^\0]{0,300}?(?:\x20-u\x20|\x20-u|--user[\x20=]|--proxy-user[\x20=])["'\w.@%+~\\-]{1,64}:(?!//|\[REDACTED:)([^\s"'\\$<]{5,200})  inside e2.3
command-line-password  docker\x20login,podman\x20login,az\x20login,helm\x20registry\x20login,oc\x20login,nerdctl\x20login,rdesktop,xfreerdp,mosquitto_pub,mosquitto_sub,mongo,sqlcmd,bcp,zip,plink,pscp,psexec,redis-cli,sshpass,ldap  (?:[a-z\x20]{2,13}\x20login|rdesktop|xfreerdp|mosquitto_[ps]ub|mongo\w{0,8}|sqlcmd|bcp|zip|plink|pscp|psexec|redis-cli|sshpass|ldap\w{3,8})\b[^|;\r\n]{0,200}?\x20-[pPaw]\x20(?!\s|\[REDACTED:)["']?([^\s"'\\<>|;\x60-][^\s"'\\<>|;\x60]{3,100})  inside e2.3
command-line-password  mysql,mariadb,sshpass,7z  (?:mysql|mariadb|sshpass|7z)(?:dump|admin|import)?\b[^|;\r\n]{0,200}?\x20-p(?!\s|\[REDACTED:)["']?([^\s"'\\<>|;\x60-][^\s"'\\<>|;\x60]{4,100})  inside e2.3
command-line-password  pgpassword=,mysql_pwd=,-passin\x20,-passout\x20  (?:PGPASSWORD=|MYSQL_PWD=|-pass(?:in|out)\x20["']?pass:)["']?([^\s"'\\<>|;\x60]{4,100})  inside e2
command-line-password  smbclient,rpcclient,smbmap  (?:smbclient|rpcclient|smbmap)\b[^|;\r\n]{0,200}?(?:\x20-U\x20|\x20-U)["'\w.@/-]{1,64}%(?!\[REDACTED:)([^\s"'\\<>|;]{4,100})  inside e2.3
command-line-password  openssl\x20  openssl\x20[^|;\r\n]{0,200}?\x20-k\x20(?!\[REDACTED:)["']?([^\s"'\\<>|;$-][^\s"'\\<>|;$]{3,100})  inside e2.3
command-line-password  net\x20user\x20  net\x20user\x20[\w.-]{1,40}\x20([^\s/*"'\\$%][^\s"'\\]{5,100})(?=\x20/)  i e2.3
command-line-password  htpasswd\x20-  htpasswd\x20-\w{0,4}b\w{0,4}\x20[\w./-]{1,80}\x20[\w.@-]{1,64}\x20["']?([^\s"'\\$]{4,100})  e2.3
command-line-password  convertto-securestring  ConvertTo-SecureString\x20(?:-String\x20)?["']([^\s"'\\$]{4,100})["']  i e2.3
command-line-password  --from-literal  (?<=secret\x20generic[^|;\r\n]{0,300})--from-literal[=\x20]["']?[\w.-]{1,60}=["']?([^\s"'\\$<]{6,200})  inside e2.8
command-line-password  kinit,passwd,gh\x20auth\x20login,gh\x20secret\x20set,wrangler\x20secret,docker\x20secret\x20create,sudo\x20-s,--password-stdin,--with-token,--passphrase-fd  (?:kinit|passwd|gh\x20auth\x20login|gh\x20secret\x20set|wrangler\x20secret|docker\x20secret\x20create|sudo\x20-S|--password-stdin|--with-token|--passphrase-fd)\b[^|;\r\n]{0,120}?<<(?:<\x20?["']?|-?\x20?["']?[A-Z]{1,12}["']?(?:\r?\n|\\n))(?!\[REDACTED:)([^\s"'\\$]{6,200})  inside e2.3
piped-password  sudo\x20-,chpasswd,docker\x20login,podman\x20login,kinit,cryptsetup  (?<=echo(?=\x20)[^|\r\n]{0,30}["'\x20:]([^\s"'|:\\]{4,64})["']?\x20?\|\x20?(?:sudo\x20)?)(?:sudo\x20-\w{0,4}S|chpasswd|docker\x20login|podman\x20login|kinit|cryptsetup)  inside e2
pgpass-password  :5432:,:5433:,:6432:,:*:  (?<=(?:^|[\s"']|\\n)[\w.*-]{1,80}):(?:543[23]|6432|\*):[\w*.-]{1,64}:[\w*.-]{1,64}:([^\s"'\\:[\]]{6,100})  inside e2.3
sql-password  identified  identified\x20(?:with\x20[\w"'\x60]{1,40}\x20(?:by|as)\x20["']|by\x20(?:password\x20)?(?:["']|(?<=(?:create|alter)\x20user\x20[^;]{1,100}\x20identified\x20by\x20)|(?<=(?:^|[;"'(\n]|(?:create|alter|grant|connect)\x20[^;]{1,100}\s)identified\x20by\x20(?:password\x20)?)(?=[a-z]{0,30}[\d!@#$%^&*])))([^\s"'\\;)]{4,100})  i inside e2.3
sql-password  alter\x20user\x20,alter\x20role\x20,alter\x20login\x20,create\x20user\x20,create\x20role\x20,create\x20login\x20  (?:alter|create)\x20(?:user|role|login)\x20[\w\s"\x60@.%\\-]{1,48}\x20password\x20(?:=\x20)?\\{0,7}N?["']([^\s"'\\;)]{4,100})  i inside e2
sql-password  set\x20password  set\x20password(?:\x20for\x20[^\s=]{1,80})?\x20?=\x20?(?:password\()?["']([^\s"'\\;)]{4,100})  i inside e2
account-password  auth=(,credential(,credentials(,basicauth(,basic_auth(,.login(,.auth(  (?:auth=|credentials?|basic_?auth|\.login|\.auth)\(\\{0,7}["'][^"'\s\\]{1,64}\\{0,7}["'],\x20?\\{0,7}["']([^"'\s\\]{4,100})\\{0,7}["']  i inside e2.3
account-password  mysql_connect(,mysqli_connect(,new\x20mysqli(,new\x20pdo(,ldap_bind(,imap_open(,getconnection(  (?:mysqli?_connect|new\x20mysqli|new\x20pdo|ldap_bind|imap_open|getconnection)\([^,()]{1,120},\x20{0,2}[^,()]{1,80},\x20{0,2}\\{0,7}["']([^"'\s\\]{4,100})\\{0,7}["']  i inside e2.3
account-password  credentials,creds,zugangsdaten,log\x20in\x20,login\x20  (?:credentials|creds|zugangsdaten|log\x20?in)(?:\x20(?:as|with|is|are|sind))?:?\x20{1,2}[\w.@-]{2,40}\x20?[/:]\x20?(?=[^\s/]{0,63}\d)(?=[^\s/]{0,63}[a-z])(?=[^\s/]{0,63}[A-Z])([^\s/:"'\x60,;<>()\\]{8,64})(?![^\s.,;!?)"'\x60\\])  inside e3
netrc-password  login\x20  login\x20[^\s"']{1,40}[\s\\n]{1,6}password\s\s{0,2}(?=[a-z]{0,20}[^a-z\s.,;:)'"])([^\s"'\\$<]{6,200})  e2
aws-login  asia,akia  A[SK]IA[A-Z2-7]{16}[\s"',]{1,8}(?:\d{4}-[\dT:.+Z-]{10,30}[\s"',]{1,8})?((?=[A-Za-z+/]{0,39}\d)[A-Za-z0-9+/]{40}(?:[\s"',]{1,8}(?:IQoJ|FwoG|FQoG)[A-Za-z0-9+/]{100,2000})?)  e4
docker-login  eyjhdxrocyi6  eyJhdXRocyI6[A-Za-z0-9+/]{20,8000}={0,2}
json-web-key  "kty"  "kty"\x20?:[^{}]{1,1500}?"[dk]"\x20?:\x20?"([\w-]{22,1500})  inside e3
json-web-key  "d":,"k":,"d"\x20:,"k"\x20:  "[dk]"\x20?:\x20?"([\w-]{22,1500})"(?=[^{}]{1,1500}"kty")  inside e3
generated-password  random_password  random_password[^\0]{0,1200}?"result":\x20?"([^"\\]{6,200})  inside
cookie  "sessionid","session_id","session","sid","xsrf-token","csrf-token","_session"  "[\w-]{3,12}"\s{0,8},\s{0,24}"value"\s{0,4}:\s{0,4}"((?=[^"]{0,60}\d)[\w%.~+/=-]{16,4096})"  i inside e3
signed-address  x-amz-signature=,x-goog-signature=  X-(?:Amz|Goog)-Signature=([0-9a-f]{64,512})  i
cut-token  gh[pousr]_,github_pat_,glpat-,gldt-,glrt-,glptt-,gloas-,glsoat-,sk-ant-,sk-proj-,sk-svcacct-,sk-admin-,sk-or-v1-,[sr]k_live_,[sr]k_test_,xox[abcdeprs]-,hf_,npm_,pypi-,dckr_[op]at_,do[opr]_v1_,shp[acps][ats]_,sntry[su]_,gsk_,xai-,lin_api_,ntn_,figd_,dapi,hvs.,sg.,aiza,ya29.,gocspx-,glsa_,pscale_tkn_,pscale_pw_  (?:gh[pousr]_|github_pat_|gl(?:pat|dt|rt|ptt|oas|soat)-|sk-(?:ant|proj|svcacct|admin|or-v1)-|[sr]k_(?:live|test)_|xox[abcdeprs]-|hf_|npm_|pypi-|dckr_[op]at_|do[opr]_v1_|shp(?:at|ca|pa|ss)_|sntry[su]_|gsk_|xai-|lin_api_|ntn_|figd_|dapi|hvs\.|SG\.|AIza|ya29\.|GOCSPX-|glsa_|pscale_(?:tkn|pw)_)[\w.-]{10,100}$(?<=\d[\w.-]{0,99})  e3.2
`;
