import { randomBytes } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { pack } from '../../server/log/codec.ts';
import { encodeFrame } from '../../server/log/frame.ts';
import { createEvents } from '../text.ts';

/**
 * The baseline for the event bus, without HTTP and without a store. Several publishers publish the bytes of appends, each after
 * the last message of its subject, and wait for each answer.
 * Arguments: address of the bus, events a batch, publishers, seconds. Prints appends a second, and µs of processor time an append.
 */
const [url = '', batchSize = '50', publishers = '16', seconds = '5'] = process.argv.slice(2);

const makeEvent = createEvents(1);
const frames = Array.from({ length: 200 }, () =>
  pack(
    encodeFrame(
      Array.from({ length: Number(batchSize) }, () => {
        const { eventType, payload } = makeEvent(1024);
        return { eventType, payload: Buffer.from(JSON.stringify(payload)) };
      }),
    ),
  ),
);

const connection = await connect({ servers: new URL(url).host, noAsyncTraces: true });
const name = `bare_${randomBytes(6).toString('hex')}`;
const manager = await jetstreamManager(connection);
await manager.streams.add({ name, subjects: [`${name}.>`] });
const client = jetstream(connection);

let done = 0;
const before = process.cpuUsage();
const started = performance.now();
const until = started + Number(seconds) * 1000;
await Promise.all(
  Array.from({ length: Number(publishers) }, async (_, publisher) => {
    for (let lastSubjectSequence = 0; performance.now() < until; ) {
      const { body } = frames[done++ % frames.length] as (typeof frames)[number];
      const options = { msgID: `${publisher} ${done}`, expect: { lastSubjectSequence } };
      ({ seq: lastSubjectSequence } = await client.publish(`${name}.${publisher}`, body, options));
    }
  }),
);
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${done / ((performance.now() - started) / 1000)} ${(user + system) / done}\n`);
await manager.streams.delete(name);
await connection.close();
