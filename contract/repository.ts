/**
 * Without all that may be a name and password before the host, `scheme://user:password@host` and `user:password@host:path`,
 * and without a query. A password may hold any sign, so the last `@` counts that begins no part of a path, and none behind a
 * host with its path.
 */
export const withoutCredentials = (remote: string): string =>
  remote
    .replace(/^([\w+.-]+:\/\/[^?#]*)[?#].*$/, '$1')
    .replace(/^([\w+.-]+:\/\/)(?![\w.-]+(?::\d*)?\/).*(?<!\/)@/, '$1')
    .replace(/^[^/:@]+:(?!\/\/).*@(?=[^@:]+:)/, '');

const REMOTE = /^(?:[a-z+]+:\/\/)?(?:[^@/\s]{0,200}@)?([\w.-]+)(?::\d+(?=\/)|:|\/)\/?([^\s?#]+?)(?:\.git)?\/?$/i;

/** Hosts at which a forge answers SSH on port 443, and its own name. */
const BEHIND_FIREWALLS: Record<string, string> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
};

/**
 * The one form of a repository's address: `git@host:owner/name.git` and `https://user:token@host/owner/name` are both
 * `host/owner/name`. A folder stays as it is.
 */
export function addressOf(remote: string): string | undefined {
  const text = withoutCredentials(remote.trim());
  const [, host = '', path] = REMOTE.exec(text) ?? [];
  if (!host || !path) return text.replace(/^[^@\s]*@/, '') || undefined;
  const isRemote = host.includes('.') || text.includes('://') || /^[^@/\s]+@/.test(text);
  const name = host.toLowerCase();
  return isRemote ? `${BEHIND_FIREWALLS[name] ?? name}/${path.replace(/^\/+/, '')}` : text;
}

/** Whether the address names its host: some agents write `owner/name` alone. */
export const hasHost = (address: string): boolean => /^[^/]+\/[^/]+\/./.test(address);
