import { setTimeout as pause } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type NatsServer, startNatsCluster } from '../test/nats.ts';
import { startWire, type Trouble, type Wire } from '../test/wire.ts';
import type { Fault } from './rounds.ts';

export interface FaultyBus {
  /** Addresses of the wires to all nodes; the services connect through them. */
  url: string;
  /** The wires to all nodes as one. */
  wire: Wire;
  faults: Record<string, Fault>;
  stop(): Promise<void>;
}

/** Three NATS servers with three copies of each stream, and their faults. */
export async function startBus(random: () => number): Promise<FaultyBus> {
  const nodes = await startNatsCluster();
  const wires = await Promise.all(nodes.map(({ url }) => startWire(Number(new URL(url).port))));
  const all = async (work: (wire: Wire) => Promise<void>) => void (await Promise.all(wires.map(work)));
  await untilElected(nodes);

  /** Kills one node for the round. */
  const one = (choose: () => Promise<NatsServer>, meanwhile: (node: NatsServer) => void = () => undefined): Fault => {
    let chosen: NatsServer | undefined;
    return {
      async break() {
        chosen = await choose();
        await chosen.kill();
      },
      async mend() {
        if (chosen) meanwhile(chosen);
        await chosen?.start();
        await untilElected(nodes);
      },
    };
  };
  const any = async () => nodes[Math.floor(random() * nodes.length)] as NatsServer;
  const startAll = async () => {
    await Promise.all(nodes.map((node) => node.start()));
    await untilElected(nodes);
  };
  const killAll = async () => void (await Promise.all(nodes.map((node) => node.kill())));
  return {
    url: wires.map(({ port }) => `nats://127.0.0.1:${port}`).join(','),
    wire: {
      port: 0,
      cut: () => all((wire) => wire.cut()),
      mend: () => all((wire) => wire.mend()),
      trouble: (kind: Trouble) => wires.forEach((wire) => void wire.trouble(kind)),
    },
    faults: {
      'a node of the bus killed': one(any),
      'the leader of the log killed': one(async () => nodes[await leaderOf(nodes)] as NatsServer),
      'a node of the bus wiped': one(any, (node) => node.wipe()),
      'all nodes of the bus killed': { break: killAll, mend: startAll },
    },
    async stop() {
      await all((wire) => wire.cut().catch(() => undefined));
      await Promise.all(nodes.map((node) => node.dispose()));
    },
  };
}

/** Asks one node after the other until one answers. */
async function ask<Answer>(
  nodes: readonly NatsServer[],
  question: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<Answer | undefined>,
): Promise<Answer> {
  for (let tries = 0; tries < 1_000; tries++) {
    const { url } = nodes[tries % nodes.length] as NatsServer;
    const connection = await connect({ servers: url, reconnect: false, timeout: 1_000 }).catch(() => undefined);
    try {
      const answer = connection && (await question(await jetstreamManager(connection, { timeout: 1_000 })));
      if (answer !== undefined) return answer;
    } catch {
      // Not yet.
    } finally {
      await connection?.close();
    }
    await pause(100);
  }
  throw new Error('the bus no longer has a leader');
}

/** Waits until the cluster accepts changes and every stream has a leader. */
const untilElected = (nodes: readonly NatsServer[]) =>
  ask(nodes, async (manager) => {
    await manager.getAccountInfo();
    const streams = await manager.streams.list().next();
    return streams.every(({ cluster }) => cluster?.leader !== undefined) ? true : undefined;
  });

/** Index of the node that leads the stream of the log. */
const leaderOf = (nodes: readonly NatsServer[]): Promise<number> =>
  ask(nodes, async (manager) => {
    const streams = await manager.streams.list().next();
    const leader = streams.find(({ config }) => !config.name.endsWith('_dead'))?.cluster?.leader;
    return leader === undefined ? undefined : Number(leader.split('-').at(-1));
  });
