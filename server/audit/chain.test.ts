import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AuditEntry } from '../../contract/audit.ts';
import { runs } from '../../contract/test/runs.ts';
import { ChainCheck, type ChainHead, EMPTY, type Finding, nextEntry, person, secret } from '../store/audit-chain.ts';

const ORGANIZATION = 'org_1';
const LENGTH = 24;

function chainOf(length: number, organizationId = ORGANIZATION, salt = 0): AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (let n = 1; n <= length; n++) {
    const happened = { actor: person(`usr_${n % 3}`), action: 'secret.issued', target: secret(`sec_${n}`) } as const;
    entries.push(
      nextEntry(organizationId, entries.at(-1) ?? EMPTY, { ...happened, details: { plane: 'live' } }, n + salt),
    );
  }
  return entries;
}

const headOf = (entries: readonly AuditEntry[]): ChainHead => entries.at(-1) ?? EMPTY;

function check(entries: readonly AuditEntry[], head: ChainHead, signed: readonly ChainHead[] = []): Finding[] {
  const chain = new ChainCheck(ORGANIZATION, signed);
  for (const entry of entries) chain.add(entry);
  return chain.end(head);
}

const CHAIN = chainOf(LENGTH);
const OTHER = chainOf(LENGTH, 'org_2');
/** An administrator of the store can write this: it obeys the rules of the chain, but lacks the key. */
const ANEW = chainOf(LENGTH, ORGANIZATION, 1);
const place = fc.integer({ min: 0, max: LENGTH - 1 });
const word = fc.string({ minLength: 1 });

interface Store {
  entries: AuditEntry[];
  head: ChainHead;
}

const edited = (at: number, change: (entry: AuditEntry) => Partial<AuditEntry>): Store => ({
  entries: CHAIN.map((entry, index) => (index === at ? { ...entry, ...change(entry) } : entry)),
  head: headOf(CHAIN),
});

/** Changes of the store. Each of them really changes it. */
const CHANGES: Record<string, fc.Arbitrary<Store>> = {
  'a field changed': fc
    .tuple(place, fc.constantFrom('at', 'action', 'previous', 'hash'), word)
    .map(([at, field, text]) => edited(at, (entry) => ({ [field]: `${String(entry[field as 'at'])}${text}` }))),
  'an actor changed': fc
    .tuple(place, word)
    .map(([at, id]) => edited(at, (entry) => ({ actor: { ...entry.actor, id: entry.actor.id + id } }))),
  'a detail changed': fc
    .tuple(place, word)
    .map(([at, text]) => edited(at, () => ({ details: { plane: `live${text}` } }))),
  'details removed': place.map((at) => edited(at, () => ({ details: undefined }) as unknown as Partial<AuditEntry>)),
  'an entry removed': place.map((at) => ({ entries: CHAIN.toSpliced(at, 1), head: headOf(CHAIN) })),
  'two entries swapped': fc.uniqueArray(place, { minLength: 2, maxLength: 2 }).map(([one = 0, other = 1]) => ({
    entries: CHAIN.with(one, CHAIN[other] as AuditEntry).with(other, CHAIN[one] as AuditEntry),
    head: headOf(CHAIN),
  })),
  'two entries swapped with their numbers': fc
    .uniqueArray(place, { minLength: 2, maxLength: 2 })
    .map(([one = 0, other = 1]) => ({
      entries: CHAIN.with(one, { ...(CHAIN[other] as AuditEntry), sequence: one + 1 }).with(other, {
        ...(CHAIN[one] as AuditEntry),
        sequence: other + 1,
      }),
      head: headOf(CHAIN),
    })),
  'an entry of another organization': place.map((at) => ({
    entries: CHAIN.with(at, OTHER[at] as AuditEntry),
    head: headOf(CHAIN),
  })),
  'an entry added behind the head': word.map((id) => ({
    entries: [
      ...CHAIN,
      nextEntry(ORGANIZATION, headOf(CHAIN), { actor: person(id), action: 'member.left', target: person(id) }, 1),
    ],
    head: headOf(CHAIN),
  })),
  'the end cut off, and the head with it': fc.integer({ min: 0, max: LENGTH - 1 }).map((length) => ({
    entries: CHAIN.slice(0, length),
    head: headOf(CHAIN.slice(0, length)),
  })),
  'the end cut off': fc.integer({ min: 0, max: LENGTH - 1 }).map((length) => ({
    entries: CHAIN.slice(0, length),
    head: headOf(CHAIN),
  })),
  'the head removed': fc.constant({ entries: CHAIN, head: EMPTY }),
  'written anew from an entry on': place.map((at) => {
    const entries = CHAIN.slice(0, at);
    for (const { actor, action, target } of ANEW.slice(at)) {
      entries.push(nextEntry(ORGANIZATION, headOf(entries), { actor, action, target }, 7));
    }
    return { entries, head: headOf(entries) };
  }),
};

test('an unchanged log has no finding, with and without signed heads', () => {
  expect(check(CHAIN, headOf(CHAIN))).toEqual([]);
  expect(check(CHAIN, headOf(CHAIN), CHAIN)).toEqual([]);
});

test('a rewritten log is found even after the service has signed it again', () => {
  expect(check(ANEW, headOf(ANEW), [headOf(CHAIN), headOf(ANEW)])).toMatchObject([{ problem: 'written anew' }]);
});

test('a log that grows while it is read has no finding', () => {
  const chain = new ChainCheck(ORGANIZATION);
  for (const entry of CHAIN.slice(0, 20)) chain.add(entry);
  expect(chain.end(headOf(CHAIN.slice(0, 10)), headOf(CHAIN))).toEqual([]);
});

/** 10,000 changes in all. */
test.each(Object.entries(CHANGES))('%s is found', (_, change) => {
  fc.assert(
    fc.property(change, ({ entries, head }) => {
      expect(check(entries, head, [headOf(CHAIN)])).not.toEqual([]);
    }),
    runs(10_000 / Object.keys(CHANGES).length),
  );
});
