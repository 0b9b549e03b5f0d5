import { isIPv6 } from 'node:net';

/** The address as IPv4 writes it, or the /64 that an IPv6 address belongs to. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length - (address.includes('.') ? 1 : 0);
  const all = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  const network = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

const groups = (text: string) => (text === '' ? [] : text.split(':'));
