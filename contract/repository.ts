/**
 * Removes everything before the host that may be a name and password, as in `scheme://user:password@host` and
 * `user:password@host:path`, and removes the query. A password may contain any character. Therefore the last `@` counts, except
 * an `@` at the start of a path segment or after a host with its path.
 */
export const withoutCredentials = (remote: string): string =>
  remote
    .replace(/^([\w+.-]+:\/\/[^?#]*)[?#].*$/, '$1')
    .replace(/^([\w+.-]+:\/\/)(?![\w.-]+(?::\d*)?\/).*(?<!\/)@/, '$1')
    .replace(/^[^/:@]+:(?!\/\/).*@(?=[^@:]+:)/, '');

const REMOTE = /^(?:[a-z+]+:\/\/)?(?:[^@/\s]{0,200}@)?([\w.-]+)(?::\d+(?=\/)|:|\/)\/?([^\s?#]+?)(?:\.git)?\/?$/i;

/** Hosts at which a forge answers SSH on port 443, with the forge's own name. */
const BEHIND_FIREWALLS: Record<string, string> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
};

/**
 * The normal form of a repository's address: `git@host:owner/name.git` and `https://user:token@host/owner/name` both become
 * `host/owner/name`. A folder stays unchanged.
 */
export function addressOf(remote: string): string | undefined {
  const text = withoutCredentials(remote.trim());
  const [, host = '', path] = REMOTE.exec(text) ?? [];
  if (!host || !path) return text.replace(/^[^@\s]*@/, '') || undefined;
  const isRemote = host.includes('.') || text.includes('://') || /^[^@/\s]+@/.test(text);
  const name = host.toLowerCase();
  return isRemote ? `${BEHIND_FIREWALLS[name] ?? name}/${path.replace(/^\/+/, '')}` : text;
}

/** Whether the address contains its host: some agents write only `owner/name`. */
export const hasHost = (address: string): boolean => /^[^/]+\/[^/]+\/./.test(address);

/** Whether it is a folder, in POSIX or Windows form, without a known address. */
export const isFolder = (repository: string): boolean => /^(?:[/\\~]|[A-Za-z]:[/\\])/.test(repository);
