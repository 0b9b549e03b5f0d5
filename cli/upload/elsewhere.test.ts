import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openPipeline } from '../pipeline.ts';
import { ownPlaces } from '../read/places.ts';
import { openReader } from '../reading.ts';
import { startSending } from '../sending.ts';
import { setUpDaemon } from '../test/daemon.ts';
import { makeFolder } from '../test/folder.ts';
import { createContext } from '../test/program.ts';

test('events from others are not sent again if a full disk prevents noting an answer', async () => {
  const { start, say, home, service, texts, waitForTexts } = await setUpDaemon();
  say(1, 0, 'one');
  say(1, 1, 'two');
  const { end } = await start();
  await waitForTexts(1, ['one', 'two']);
  await end();
  say(1, 2, 'three');

  const variables = { CAPTURE_HOME: makeFolder() };
  const { context } = createContext({ home, variables, url: service.url, secret: 'sk_live_test' });
  const pipeline = await openPipeline(context);
  const { spool } = pipeline;
  const reader = openReader(context, pipeline, { patienceMs: 0, onTrouble: () => {} });
  const reading = { isStopped: () => false, onCommit: () => {} };
  await reader.read(reader.findWork(ownPlaces(context)), reading);
  let isFull = true;
  function transact<Result>(work: () => Result): Result {
    const isNoted = texts(1).length > 2;
    if (!isNoted || !isFull) return spool.transact(work);
    isFull = false;
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  }
  const stop = new AbortController();
  const sending = startSending(
    context,
    { ...pipeline, spool: { ...spool, transact } },
    { signal: stop.signal, restartMs: 10 },
  );
  onTestFinished(async () => {
    stop.abort();
    await sending.ended;
    spool.close();
  });
  await vi.waitFor(() => expect(spool.batches.depth().batches).toBe(0), 10_000);
  await sleep(100);
  expect(isFull).toBe(false);
  expect(texts(1)).toEqual(['one', 'two', 'three']);
});
