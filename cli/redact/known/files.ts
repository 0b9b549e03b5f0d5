import { join } from 'node:path';
import type { Variables } from '../../agents/agent.ts';
import type { Found } from './pair.ts';
import { readAddresses, readBare, readJson, readNetrc, readPairs, readPgpass, readXml } from './readers.ts';

interface HomeFile {
  at: (variables: Variables, home: string) => string[];
  read: (text: string) => Found[];
}

/** Where programs of developers keep their secrets: below the home folder, or where a variable says. Agents tell theirs. */
export const HOME_FILES: readonly HomeFile[] = [
  below(readPairs, ['.env', '.npmrc', '.yarnrc', '.yarnrc.yml', '.pypirc', '.databrickscfg', '.my.cnf', '.s3cfg']),
  below(readPairs, ['.aws/credentials', '.aws/config', '.config/gh/hosts.yml', '.config/hub', '.kube/config', '.boto']),
  below(readPairs, ['.config/glab-cli/config.yml', '.config/doctl/config.yaml', '.config/stripe/config.toml']),
  below(readPairs, ['.cargo/credentials.toml', '.cargo/credentials', '.gem/credentials', '.gradle/gradle.properties']),
  below(readPairs, ['.fly/config.yml', '.wrangler/config/default.toml', '.config/.wrangler/config/default.toml']),
  below(readPairs, ['.config/pip/pip.conf', '.pip/pip.conf', '.terraformrc', '.sentryclirc']),
  below(readJson, [
    '.docker/config.json',
    '.config/gcloud/application_default_credentials.json',
    '.composer/auth.json',
  ]),
  below(readJson, ['.kaggle/kaggle.json']),
  below(readJson, [
    '.local/share/com.vercel.cli/auth.json',
    '.config/netlify/config.json',
    '.config/configstore/firebase-tools.json',
  ]),
  below(readJson, ['.azure/msal_token_cache.json', '.terraform.d/credentials.tfrc.json', '.config/heroku/config.json']),
  below(readBare, ['.vault-token', '.huggingface/token', '.cache/huggingface/token', '.supabase/access-token']),
  below(readBare, ['.ssh/id_rsa', '.ssh/id_ed25519', '.ssh/id_ecdsa', '.ssh/id_dsa']),
  below(readNetrc, ['.netrc', '_netrc']),
  below(readAddresses, ['.git-credentials', '.config/git/credentials', '.gitconfig']),
  below(readPgpass, ['.pgpass']),
  below(readXml, ['.m2/settings.xml', '.nuget/NuGet/NuGet.Config']),
  named(readPairs, 'AWS_SHARED_CREDENTIALS_FILE'),
  named(readPairs, 'KUBECONFIG'),
  named(readPairs, 'NPM_CONFIG_USERCONFIG'),
  named(readJson, 'GOOGLE_APPLICATION_CREDENTIALS'),
  named(readJson, 'DOCKER_CONFIG', 'config.json'),
];

function below(read: HomeFile['read'], paths: string[]): HomeFile {
  return { at: (_variables, home) => paths.map((path) => join(home, path)), read };
}

function named(read: HomeFile['read'], variable: string, file = ''): HomeFile {
  return {
    at(variables) {
      const path = variables[variable];
      return path === undefined || path === '' ? [] : [join(path, file)];
    },
    read,
  };
}
