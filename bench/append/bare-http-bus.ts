import { createServer } from 'node:http';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

/**
 * The baseline for the event bus with HTTP: a server that publishes each body unchanged, after the last message of its session,
 * and answers with its sequence. It does not authenticate, validate or number events.
 * It listens on PORT, and publishes to BUS_URL.
 */
const { PORT = '0', BUS_URL = '' } = process.env;
const connection = await connect({ servers: new URL(BUS_URL).host, noAsyncTraces: true });
const name = `bare_${process.pid}`;
const manager = await jetstreamManager(connection);
await manager.streams.add({ name, subjects: [`${name}.>`] });
const client = jetstream(connection);

/** The sequence of each session's last message. */
const last = new Map<string, number>();
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const session = request.url?.split('/')[3] ?? '';
    const msgID = String(request.headers['idempotency-key']);
    const expect = { lastSubjectSequence: last.get(session) ?? 0 };
    const { seq } = await client.publish(`${name}.${session}`, Buffer.concat(chunks), { msgID, expect });
    last.set(session, seq);
    const body = JSON.stringify({ sessionId: session, lastSequence: seq });
    response.writeHead(202, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
});
process.once('SIGTERM', async () => {
  await manager.streams.delete(name);
  process.exit();
});
server.listen(Number(PORT), '127.0.0.1', () => process.stdout.write('it is ready\n'));
