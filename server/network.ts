import { isIPv6 } from 'node:net';

/** The smallest network that a customer gets: an IPv4 address, or the /64 of an IPv6 address. */
export const networkOf = (address: string): string => {
  const groups = groupsOf(address);
  return groups === undefined ? plain(address) : prefix(groups, 64);
};

/** A network that one customer may own as a whole: the /24 of an IPv4 address, or the /48 of an IPv6 address. */
export function siteOf(address: string): string {
  const groups = groupsOf(address);
  if (groups !== undefined) return prefix(groups, 48);
  const bytes = plain(address).split('.');
  return `${bytes.slice(0, 3).join('.')}.0/24`;
}

const prefix = (groups: readonly string[], bits: 48 | 64) => `${groups.slice(0, bits / 16).join(':')}::/${bits}`;

/** An IPv4 address in IPv6 notation. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

const plain = (address: string): string => MAPPED.exec(address)?.[1] ?? address;

/** The eight groups of an IPv6 address without leading zeros; undefined for an IPv4 address. */
function groupsOf(address: string): string[] | undefined {
  if (!isIPv6(address) || MAPPED.test(address)) return undefined;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const before = split(head);
  const after = split(tail ?? '');
  // A trailing IPv4 address replaces two groups.
  const written = before.length + after.length + (address.includes('.') ? 1 : 0);
  const zeros = tail === undefined ? 0 : 8 - written;
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return groups.map((group) => Number.parseInt(group, 16).toString(16));
}

const split = (text: string) => (text === '' ? [] : text.split(':'));
