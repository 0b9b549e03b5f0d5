import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Variables } from '../agents/agent.ts';
import { readTextIfPlain } from '../plain-file.ts';
import { findRoot } from '../repository.ts';
import type { SecretCandidate } from './readers.ts';
import * as readers from './readers.ts';

const MAX_FILE = 4 * 1024 * 1024;
const PARENTS = 8;
const CHILDREN = 100;

/**
 * Where developers' programs keep their secrets: below the home folder, or in a folder named by a variable. Agents list
 * theirs themselves.
 */
const FILES: readonly [read: (text: string) => SecretCandidate[], paths: string][] = [
  [
    readers.readPairs,
    `.env .npmrc .yarnrc .yarnrc.yml .pypirc .databrickscfg .my.cnf .s3cfg .boto .terraformrc .sentryclirc
    .aws/credentials .aws/config .config/gh/hosts.yml .config/hub .kube/config .config/glab-cli/config.yml
    .config/doctl/config.yaml .config/stripe/config.toml .cargo/credentials.toml .cargo/credentials .gem/credentials
    .gradle/gradle.properties .fly/config.yml .wrangler/config/default.toml .config/.wrangler/config/default.toml
    .config/pip/pip.conf .pip/pip.conf $AWS_SHARED_CREDENTIALS_FILE $KUBECONFIG $NPM_CONFIG_USERCONFIG`,
  ],
  [
    readers.readJson,
    `.docker/config.json .config/gcloud/application_default_credentials.json .composer/auth.json .kaggle/kaggle.json
    .local/share/com.vercel.cli/auth.json .config/netlify/config.json .config/configstore/firebase-tools.json
    .azure/msal_token_cache.json .terraform.d/credentials.tfrc.json .config/heroku/config.json
    $GOOGLE_APPLICATION_CREDENTIALS $DOCKER_CONFIG/config.json`,
  ],
  [
    readers.readBare,
    `.vault-token .huggingface/token .cache/huggingface/token .supabase/access-token
    .ssh/id_rsa .ssh/id_ed25519 .ssh/id_ecdsa .ssh/id_dsa`,
  ],
  [readers.readNetrc, '.netrc _netrc'],
  [readers.readAddresses, '.git-credentials .config/git/credentials .gitconfig'],
  [readers.readPgpass, '.pgpass'],
  [readers.readXml, '.m2/settings.xml .nuget/NuGet/NuGet.Config'],
];

export function readVariables(variables: Variables): SecretCandidate[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : readers.readPair(name, value),
  );
}

/** `credentials` are further files. */
export function readHome(variables: Variables, home: string, credentials: readonly string[]): SecretCandidate[] {
  const files = FILES.flatMap(([read, paths]) => paths.split(/\s+/).map((path) => ({ read, path: locate(path) })));
  return [...files, ...credentials.map((path) => ({ read: readers.readJson, path }))].flatMap(({ read, path }) =>
    read(path === undefined ? '' : readText(path)),
  );

  function locate(path: string): string | undefined {
    const [, variable = '', rest = ''] = /^\$(\w+)(.*)$/.exec(path) ?? [];
    if (variable === '') return join(home, path);
    return variables[variable] ? resolve(variables[variable] + rest) : undefined;
  }
}

export interface Repository {
  /** The folder itself if it is in no repository. */
  root: string;
  /** The folder and the folders above it, up to the root of the repository or the home folder. */
  folders: string[];
}

/** Undefined for the home folder and the root of the file system. */
export function findRepository(folder: string, home: string): Repository | undefined {
  const root = findRoot(folder);
  const folders: string[] = [];
  for (let at = folder; folders.length <= PARENTS && at !== home && at !== dirname(at); at = dirname(at)) {
    folders.push(at);
    if (at === root) return { root, folders };
  }
  return folders.length === 0 ? undefined : { root: folder, folders };
}

/**
 * Reads the `.env` files of a folder, of its direct children (a repository of several packages), and of the folders up to the
 * repository's root.
 */
export function readRepository({ folders }: Repository): SecretCandidate[] {
  const [folder = ''] = folders;
  const children = list(folder)
    .slice(0, CHILDREN)
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'));
  return [...folders, ...children.map(({ name }) => join(folder, name))].flatMap(readEnvironmentFiles);
}

const ENVIRONMENT_FILE =
  /^(?:\.env(?:rc|\..+)?|.+\.env|\.dev\.vars|\.npmrc|\.pypirc|local\.settings\.json|terraform\.tfvars)$/;
/** These files are checked in for others to copy, so their values are not secret. */
const TEMPLATE = /\.(?:example|sample|template|dist|defaults?|schema)$/i;

function readEnvironmentFiles(folder: string): SecretCandidate[] {
  return list(folder)
    .filter((entry) => !entry.isDirectory() && ENVIRONMENT_FILE.test(entry.name) && !TEMPLATE.test(entry.name))
    .flatMap((entry) => readers.readPairs(readText(join(folder, entry.name))));
}

function list(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/**
 * Empty if the file cannot be read. Password managers put pipes in the place of `.env`, and reading one asks the owner for a
 * password.
 */
const readText = (path: string) => readTextIfPlain(path, MAX_FILE) ?? '';
