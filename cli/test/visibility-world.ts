import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { isStricter, strictestOf, VISIBILITIES, type Visibility } from '../../contract/session.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { fetchPlainly } from '../http.ts';
import { ownPlaces } from '../read/places.ts';
import { startSending } from '../sending.ts';
import { openSpool } from '../spool/open.ts';
import { createKeyOf } from '../upload/client-key.ts';
import { fileOf, headOf, recordOf } from './consent-agents.ts';
import { type Live, openLive } from './consent-live.ts';
import { createContext } from './program.ts';
import type { createRandom } from './random.ts';
import type { FakeSession, startService } from './service.ts';
import { uuid } from './transcripts.ts';

const MINUTE = 60_000;
/** Longer than the ten seconds for which capture caches a folder's setting. */
const STEP_MS = 11_000;
/** Capture retries a deferred session after ten minutes. */
const DEFER_MS = 10 * MINUTE;
/** Enough time to send everything, even on a busy machine. */
const PATIENCE_MS = 15_000;
const MAX_GENERATIONS = 40;

interface Folder {
  path: string;
  isThere: boolean;
  asks: Visibility | undefined;
  /** The visibility that it asked for when capture last read it. */
  seen: Visibility | undefined;
}

interface Session {
  id: string;
  agent: 'claude-code' | 'codex';
  file: string;
  folder: Folder;
  /** The session that it was forked from, and all its ancestors. */
  parents: readonly Session[];
  /** Whether capture has read it. */
  isMet: boolean;
  said: Visibility | undefined;
  texts: number;
  /** Whether the service has lost a part of it. */
  isLost: boolean;
}

/** A home with agents and a person who decides, a sender, and a model of who may see the sent events. */
export class VisibilityWorld {
  readonly log: string[] = [];
  readonly #home: string;
  readonly #random: ReturnType<typeof createRandom>;
  readonly #seed: number;
  readonly #service: Awaited<ReturnType<typeof startService>>;
  readonly #folders: Folder[];
  readonly #sessions: Session[] = [];
  /** The requested visibility at the opening of each session of the service. */
  readonly #opened = new Map<string, Visibility>();
  /** Sessions by the client keys under which the service may know them. */
  readonly #keys = new Map<string, Session>();
  readonly #keyOf: ReturnType<typeof createKeyOf>;
  #machine: Visibility | 'damaged' | undefined;
  #live: Live | undefined;
  #faults = 0;
  #checked = 0;
  #now = Date.now() + 60 * MINUTE;
  #count = 0;

  constructor(
    home: string,
    random: ReturnType<typeof createRandom>,
    { seed, service }: { seed: number; service: Awaited<ReturnType<typeof startService>> },
  ) {
    this.#home = home;
    this.#random = random;
    this.#seed = seed;
    this.#service = service;
    this.#folders = ['one', 'two', 'one/inner'].map((name) => {
      const path = join(home, name);
      mkdirSync(path, { recursive: true });
      return { path, isThere: true, asks: undefined, seen: undefined };
    });
    this.#keyOf = createKeyOf(this.#context());
  }

  get now(): number {
    return this.#now;
  }

  /** The number of openings and events that have arrived. */
  get arrived(): number {
    return this.#checked;
  }

  async step(): Promise<void> {
    const steps: [weight: number, step: () => void | Promise<void>][] = [
      [4, () => this.#begin()],
      [6, () => this.#goOn()],
      [3, () => this.#fork()],
      [6, () => this.#decide()],
      [3, () => this.#changeFolder()],
      [1, () => this.#closeAll()],
      [1, () => this.#loseSession()],
      [1, () => this.#loseSpool()],
      [1, () => this.close()],
      [10, () => this.sync()],
    ];
    await this.#random.weighted(steps)();
    this.#now += STEP_MS;
  }

  close(): void {
    this.#live?.spool.close();
    this.#live = undefined;
  }

  #nameOf = (session: Session) => `s${this.#sessions.indexOf(session)}`;

  // Actions of agents.

  #begin(): void {
    const folder = this.#random.one(this.#folders.filter(({ isThere }) => isThere));
    const agent = this.#random.one(['claude-code', 'codex'] as const);
    if (folder !== undefined && agent !== undefined) this.#add(agent, folder, []);
  }

  #add(agent: Session['agent'], folder: Folder, parents: readonly Session[]): Session {
    const id = uuid(this.#seed, ++this.#count, this.#seed % 65_536);
    const file = fileOf(this.#home, { agent, id });
    const session: Session = {
      id,
      agent,
      file,
      folder,
      parents,
      isMet: false,
      said: undefined,
      texts: 0,
      isLost: false,
    };
    this.#sessions.push(session);
    for (let number = 0; number < MAX_GENERATIONS; number++)
      this.#keys.set(this.#keyOf({ agent, agentSession: id }, number), session);
    mkdirSync(dirname(file), { recursive: true });
    this.#write(session, headOf(this.#toAgents(session), this.#time()));
    if (parents.length === 0) this.#say(session);
    this.log.push(`${agent} begins ${this.#nameOf(session)} in ${folder.path} from ${parents.map(this.#nameOf)}`);
    return session;
  }

  /** Converts a session for the functions that write transcripts. */
  #toAgents({ id, agent, file, folder, parents: [parent] }: Session) {
    const { path, isThere } = folder;
    const place = { path, real: path, remote: undefined, says: false, hasSeenSays: false, isThere, main: undefined };
    const rest = { isObserved: false, hasSeenRemote: false, isIncomplete: false, said: [], isLost: false };
    const made = { id, agent, file, folder: place, cwd: path, ...rest, verdict: 'none' as const };
    return { ...made, parent: parent && { ...made, id: parent.id, parent: undefined } };
  }

  #time = () => new Date(this.#now).toISOString();

  #say(session: Session): void {
    session.texts++;
    const record = uuid(this.#seed, ++this.#count, this.#seed % 65_536);
    this.#write(session, [recordOf(this.#toAgents(session), record, this.#time(), `text ${this.#count}`)]);
  }

  #write({ file }: Session, records: readonly object[]): void {
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''), { flag: 'a' });
    utimesSync(file, this.#now / 1000, this.#now / 1000);
  }

  #goOn(): void {
    const session = this.#random.one(this.#sessions);
    if (session === undefined) return;
    for (let more = this.#random.below(3); more >= 0; more--) this.#say(session);
    this.log.push(`${this.#nameOf(session)} continues`);
  }

  /** Codex names the parent; a fork of Claude Code is recognized by shared records once capture has read the parent. */
  #fork(): void {
    const parent = this.#random.one(this.#sessions.filter(({ isMet, texts }) => isMet && texts > 0));
    if (parent === undefined) return;
    const lines = readFileSync(parent.file, 'utf8').trim().split('\n');
    const isCodex = parent.agent === 'codex';
    const fork = this.#add(parent.agent, parent.folder, [parent, ...parent.parents]);
    const timestamp = this.#time();
    const restamped = isCodex ? { timestamp } : { sessionId: fork.id };
    this.#write(
      fork,
      lines.map((line) => ({ ...(JSON.parse(line) as object), ...restamped })),
    );
    this.#say(fork);
  }

  // Actions of the person.

  #decide(): void {
    const visibility = this.#random.one(VISIBILITIES);
    const session = this.#random.one(this.#sessions);
    if (visibility !== undefined && session !== undefined && this.#random.chance(0.4)) this.#sayOf(session, visibility);
    else this.#prefer(this.#random.chance(0.2) ? 'damaged' : this.#random.chance(0.2) ? undefined : visibility);
  }

  #sayOf(session: Session, visibility: Visibility): void {
    const spool = openSpool(':memory:', join(this.#home, 'state'));
    spool.decisions.setVisibility(session.agent, session.id, visibility, this.#now);
    spool.close();
    session.said = visibility;
    this.log.push(`${this.#nameOf(session)} is made ${visibility} by the person`);
  }

  #prefer(visibility: Visibility | 'damaged' | undefined): void {
    this.#machine = visibility;
    const path = join(this.#home, 'state/preferences.json');
    mkdirSync(dirname(path), { recursive: true });
    const text = visibility === 'damaged' ? '{"visibility":' : JSON.stringify({ ...(visibility && { visibility }) });
    // Change the length each time, since capture detects changes by it.
    writeFileSync(path, `${text}${' '.repeat(this.#count++ % 50)}`);
    utimesSync(path, this.#now / 1000, statSync(path).mtimeMs / 1000 + this.#count);
    this.log.push(`the machine is set to ${visibility}`);
  }

  #changeFolder(): void {
    const folder = this.#random.one(this.#folders);
    if (folder === undefined) return;
    const isInner = folder.path.endsWith('inner');
    if (isInner && this.#random.chance(0.3)) {
      folder.isThere = !folder.isThere;
      if (folder.isThere) mkdirSync(folder.path);
      else rmSync(folder.path, { recursive: true });
      folder.asks = undefined;
      this.log.push(`${folder.path} is ${folder.isThere ? 'there' : 'gone'}`);
      return;
    }
    if (!folder.isThere) return;
    folder.asks = this.#random.one([...VISIBILITIES, undefined]);
    const path = join(folder.path, '.session-capture.json');
    if (folder.asks === undefined) rmSync(path, { force: true });
    else writeFileSync(path, JSON.stringify({ visibility: folder.asks }));
    this.log.push(`${folder.path} asks for ${folder.asks}`);
  }

  // Changes of the service and of the disk.

  #closeAll(): void {
    for (const session of this.#service.state.sessions.values()) session.status = 'completed';
    this.log.push('all sessions are completed');
  }

  #loseSession(): void {
    const session = this.#random.one([...this.#service.state.sessions.values()]);
    if (session === undefined) return;
    this.#service.state.sessions.delete(session.sessionId);
    this.#sessionOf(session).isLost = true;
    this.log.push(`the service has lost ${session.sessionId}`);
  }

  #loseSpool(): void {
    this.close();
    for (const end of ['-wal', '-shm', '']) rmSync(join(this.#home, `state/spool.db${end}`), { force: true });
    this.log.push('the spool is lost');
  }

  // Actions of capture.

  #context(): Context {
    const given = { home: this.#home, url: this.#service.url, secret: 'sk_live_test' };
    const world = { now: () => this.#now, random: () => 0, fetch: this.#fetch };
    return createContext({ ...given, context: world }).context;
  }

  /** The network fails sometimes, and the person may decide something meanwhile. */
  readonly #fetch: typeof fetchPlainly = async (input, init) => {
    if (this.#faults > 0 && this.#random.chance(0.2)) {
      this.#faults--;
      this.log.push(`${String(input)} fails`);
      if (this.#random.chance(0.5)) this.#decide();
      throw new TypeError('fetch failed');
    }
    const response = await fetchPlainly(input, init);
    this.#check();
    if (this.#faults > 0 && this.#random.chance(0.1)) this.#decide();
    return response;
  };

  async sync(isLast = false): Promise<void> {
    if (isLast) this.#prefer(undefined);
    this.#faults = isLast ? 0 : 4;
    this.#now += isLast ? 2 * DEFER_MS : 0;
    try {
      await this.#readAndSend();
    } catch (error) {
      // Capture stops while the preferences are damaged.
      if (!(error instanceof Failure) || this.#machine !== 'damaged') throw error;
      this.close();
    }
  }

  async #readAndSend(): Promise<void> {
    const context = this.#context();
    this.#live ??= openLive(context, 0, () => this.#now);
    const { spool, policy, reader } = this.#live;
    const work = reader.findWork(ownPlaces(context));
    expect(await reader.read(work, { isStopped: () => false, onCommit: async () => {} })).toBe(true);
    for (const session of this.#sessions) session.isMet = true;
    for (const folder of this.#folders) if (folder.isThere && this.#hasSession(folder)) folder.seen = folder.asks;
    this.log.push('look and send');
    const settings = { url: this.#service.url, secret: 'sk_live_test' };
    const ending = new AbortController();
    const pipeline = { settings, folder: stateFolder(context), account: undefined, spool, policy };
    const sending = startSending(context, pipeline, { signal: ending.signal, orders: ['oldest'], deferMs: DEFER_MS });
    const end = performance.now() + PATIENCE_MS;
    while (!sending.isIdle() && sending.failure() === undefined) {
      if (performance.now() > end)
        this.#fail(`It has sent for too long, at last ${this.#service.state.requests.slice(-8)}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    ending.abort();
    await sending.ended;
    if (sending.failure() !== undefined) throw sending.failure();
  }

  /** Capture looks into the folders of sessions, and into those above. */
  #hasSession = ({ path }: Folder) =>
    this.#sessions.some(({ folder }) => folder.path === path || folder.path.startsWith(`${path}/`));

  /** Checks that nothing that arrived since the last request is more visible than the person wants. */
  #check(): void {
    const { seen, state } = this.#service;
    const news = seen.slice(this.#checked);
    this.#checked = seen.length;
    for (const session of state.sessions.values()) {
      if (this.#opened.has(session.sessionId)) continue;
      const machine = this.#machine === 'damaged' ? 'private' : this.#machine;
      const wanted = strictestOf(machine, this.#wantedOf(this.#sessionOf(session)));
      this.#opened.set(session.sessionId, wanted);
      this.#compare(session, wanted, session.visibility);
    }
    for (const { event, visibility } of news) {
      if (event === undefined) continue;
      const opened = [...state.sessions.values()].find(({ events }) => events.includes(event));
      if (opened === undefined) throw new Error('An event of no session');
      this.#compare(opened, this.#wantedOf(this.#sessionOf(opened)), visibility);
      this.#compare(opened, this.#opened.get(opened.sessionId) ?? 'private', visibility);
    }
    if (news.length > 0 && this.#machine === 'damaged')
      this.#fail('Something was sent while the preferences were damaged');
  }

  #compare(session: FakeSession, wanted: Visibility, seen: Visibility): void {
    if (!isStricter(wanted, seen)) return;
    this.#fail(`${this.#nameOf(this.#sessionOf(session))} is ${seen} at the service and was to be ${wanted}`);
  }

  #fail(sentence: string): never {
    throw new Error(`${sentence}:\n${this.log.join('\n')}`);
  }

  #sessionOf({ body: { clientKey } }: FakeSession): Session {
    return this.#keys.get(String(clientKey)) ?? this.#fail(`Nobody knows ${clientKey}`);
  }

  #wantedOf({ parents, ...session }: Session): Visibility {
    const all = new Set([session, ...parents]);
    return strictestOf(...[...all].flatMap(({ said, folder }) => [said, ...this.#asksOf(folder)]));
  }

  #asksOf(folder: Folder): (Visibility | undefined)[] {
    const above = this.#folders.filter(({ path }) => folder.path.startsWith(`${path}/`));
    return [folder, ...above].map(({ isThere, asks, seen }) => (isThere ? asks : seen));
  }

  /** Checks at the end that events of each session have arrived. */
  checkComplete(): void {
    const bySession = this.#service.eventsBySession();
    for (const session of this.#sessions.filter(({ texts, isLost }) => texts > 0 && !isLost)) {
      if (!bySession.has(session.id)) this.#fail(`Nothing of ${this.#nameOf(session)} has arrived`);
    }
  }
}
