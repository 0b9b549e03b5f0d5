import type { Adapter, AdapterPayload } from 'oidc-provider';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from '../../test/engines.ts';
import { createRecords, endAccount, endSignIn, purgeRecords } from '../embedded/records.ts';

describe.each(ENGINES)('records on %s', (engine) => {
  let store: TestStore;
  let time: number;
  let records: (model: string) => Adapter;

  beforeEach(async () => {
    store = await openTestStore(engine);
    time = 1_000_000;
    records = createRecords(store.db, () => time);
  });
  afterEach(() => store.dispose());

  test('are found unchanged, by model and id', async () => {
    const payload = { kind: 'Session', jti: 'a', state: { text: '\0 " \u{1f40e} \u2028' }, exp: 12 };
    await records('Session').upsert('a', payload, 60);
    expect(await records('Session').find('a')).toEqual(payload);
    expect(await records('Interaction').find('a')).toBeUndefined();
    expect(await records('Session').find('b')).toBeUndefined();
    expect(await records('Session').find('\0')).toBeUndefined();
  });

  test('are replaced by later writes', async () => {
    await records('Session').upsert('a', { uid: 'u1', exp: 1 }, 60);
    await records('Session').upsert('a', { uid: 'u2', exp: 2 }, 60);
    expect(await records('Session').find('a')).toEqual({ uid: 'u2', exp: 2 });
    expect(await records('Session').findByUid('u1')).toBeUndefined();
  });

  test('are found by uid, within their model', async () => {
    await records('Session').upsert('a', { uid: 'u' }, 60);
    expect(await records('Session').findByUid('u')).toMatchObject({ uid: 'u' });
    expect(await records('Interaction').findByUid('u')).toBeUndefined();
  });

  test('are purged after they expire; those without an expiry stay', async () => {
    await records('Session').upsert('a', { jti: 'a' }, 60);
    await records('Client').upsert('b', { jti: 'b' });
    time += 59_999;
    expect(await records('Session').find('a')).toBeDefined();
    time += 1;
    expect(await records('Session').find('a')).toBeUndefined();
    await purgeRecords(store.db, time);
    const left = await store.db.selectFrom('provider_records').select('record_id').execute();
    expect(left).toEqual([{ record_id: 'Client:b' }]);
  });

  test('can be consumed once', async () => {
    await records('AuthorizationCode').upsert('a', { jti: 'a' }, 60);
    const consume = () => records('AuthorizationCode').consume('a');
    const outcomes = await Promise.allSettled([consume(), consume(), consume()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await records('AuthorizationCode').find('a')).toEqual({ jti: 'a', consumed: 1000 });
    await expect(consume()).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('end by id and by grant', async () => {
    await records('AccessToken').upsert('a', { grantId: 'g' }, 60);
    await records('RefreshToken').upsert('b', { grantId: 'g' }, 60);
    await records('AccessToken').upsert('c', { grantId: 'h' }, 60);
    await records('AccessToken').revokeByGrantId('g');
    expect(await records('AccessToken').find('a')).toBeUndefined();
    expect(await records('RefreshToken').find('b')).toBeDefined();
    await records('RefreshToken').destroy('b');
    expect(await records('RefreshToken').find('b')).toBeUndefined();
    expect(await records('AccessToken').find('c')).toBeDefined();
  });

  /** The ids and contents of the records that did not end. */
  const left = async () =>
    (await store.db.selectFrom('provider_records').select(['record_id', 'payload']).orderBy('record_id').execute())
      .filter(({ payload }) => payload !== '')
      .map(({ record_id }) => record_id);

  test('of a sign-in or of an account end together', async () => {
    await records('Grant').upsert('g', { accountId: 'p1' }, 60);
    await records('AccessToken').upsert('a', { grantId: 'g', accountId: 'p1' }, 60);
    await records('Session').upsert('r', { accountId: 'p1' }, 60);
    await records('Session').upsert('s', { accountId: 'p1' }, 60);
    await records('Session').upsert('t', { accountId: 'p12' }, 60);
    await records('Interaction').upsert('i', { result: { login: { accountId: 'p1' } } }, 60);
    await records('Interaction').upsert('j', { session: { accountId: 'p1' } } as AdapterPayload, 60);
    await endSignIn(store.db, 'r', ['g']);
    expect(await left()).toEqual(['Interaction:i', 'Interaction:j', 'Session:s', 'Session:t']);
    await endSignIn(store.db, 's', []);
    expect(await left()).toEqual(['Interaction:i', 'Interaction:j', 'Session:t']);
    await endAccount(store.db, 'p1');
    expect(await left()).toEqual(['Session:t']);
  });

  test.each([
    ['destroyed', () => records('Session').destroy('a')],
    ['signed out', () => endSignIn(store.db, 'a', [])],
    ['ended with its account', () => endAccount(store.db, 'p')],
  ])('stay ended if a request that began before saves them again: %s', async (_how, end) => {
    const payload = { uid: 'u', accountId: 'p' };
    await records('Session').upsert('a', payload, 60);
    const found = await records('Session').find('a');
    await end();
    await records('Session').upsert('a', { ...found }, 60);
    expect(await records('Session').find('a')).toBeUndefined();
    expect(await records('Session').findByUid('u')).toBeUndefined();
    expect(await left()).toEqual([]);
    await expect(records('Session').consume('a')).rejects.toMatchObject({ error: 'invalid_grant' });
    time += 60_000;
    await purgeRecords(store.db, time);
    expect(await store.db.selectFrom('provider_records').selectAll().execute()).toEqual([]);
  });
});
