import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { Context } from '../context.ts';
import { isInside } from '../paths.ts';
import { type Consent, writeConsent } from '../privacy/consent.ts';
import { ownPlaces } from '../read/places.ts';
import { noteRecords } from '../sessions/notes.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import { readEvents } from '../upload/refusals.ts';
import {
  ancestorsOf,
  type Folder,
  fileOf,
  headOf,
  lastRecordOf,
  makeRepository,
  makeWorkTree,
  recordOf,
  restated,
  type Said,
  type Session,
} from './consent-agents.ts';
import { isOutdated, type Live, openLive } from './consent-live.ts';
import { RULES, Wishes } from './consent-wishes.ts';
import { createContext, run } from './program.ts';
import type { createRandom } from './random.ts';
import { uuid } from './transcripts.ts';

const REMOTES = ['https://git.example.com/me/diary.git', 'git@github.com:acme/shop.git', 'https://gitlab.com/x/y.git'];
/** `tree` is a work tree of `one`. */
const NAMES = ['plain', 'real', 'one', 'two', 'tree'];

const MINUTE = 60_000;
/** Longer than the ten seconds for which capture caches a folder's setting. */
const STEP_MS = 11_000;

/** A home with agents that write transcripts, a person who decides about them, and a model of what may leave it. */
export class ConsentWorld {
  readonly log: string[] = [];
  readonly #home: string;
  readonly #random: ReturnType<typeof createRandom>;
  readonly #seed: number;
  readonly #folders = new Map<string, Folder>();
  readonly #sessions: Session[] = [];
  readonly #wishes: Wishes;
  #live: Live | undefined;
  /** When capture began; undefined before that. */
  #since: number | undefined;
  /** Markers of all events that may have left the machine so far. */
  readonly #allowed = new Set<string>();
  readonly #arrived = new Set<string>();
  #isLinked = true;
  /** Present while capture is paused. */
  #pause: { until: number } | undefined;
  #wasClockSet = false;
  #now = Date.now() + 60 * MINUTE;
  #count = 0;

  constructor(home: string, random: ReturnType<typeof createRandom>, seed: number) {
    this.#home = home;
    this.#random = random;
    this.#seed = seed;
    this.#wishes = new Wishes(home);
    for (const name of NAMES) this.#makeFolder(name);
    symlinkSync(join(home, 'real'), join(home, 'link'));
  }

  get now(): number {
    return this.#now;
  }

  get arrived(): number {
    return this.#arrived.size;
  }

  /** Runs one random step. */
  async step(): Promise<void> {
    const steps: [weight: number, step: () => void | Promise<void>][] = [
      [6, () => this.#begin()],
      [8, () => this.#goOn()],
      [4, () => this.#fork()],
      [8, () => this.#goOnInBoth()],
      [2, () => this.#restate()],
      [5, () => this.#changeRules()],
      [3, () => this.#skip(this.#random.one(this.#kept()))],
      [1, () => this.#undo()],
      [1, () => this.#delete()],
      [3, () => this.#decide()],
      [3, () => this.#startPause()],
      [2, () => this.#endPause()],
      [1, () => this.#setClockBack()],
      [4, () => this.#changeFolder()],
      [1, () => this.#removeTranscript()],
      [1, () => this.#lose()],
      [1, () => this.#loseSpool()],
      [3, () => this.#passTime()],
      [10, () => this.sync()],
    ];
    await this.#random.weighted(steps)();
    this.#now += STEP_MS;
  }

  /** Closes the spool, as a daemon does when it ends. */
  close(): void {
    this.#live?.spool.close();
    this.#live = undefined;
  }

  #note(what: string): void {
    this.log.push(what);
  }

  #marker(): string {
    return `MARK${this.#seed}x${++this.#count}M`;
  }

  #makeFolder(name: string): void {
    const path = join(this.#home, name);
    const main = name === 'tree' ? this.#folders.get('one') : undefined;
    const hasOwn = main === undefined && (name === 'one' || name === 'two' || this.#random.chance(0.2));
    const remote = hasOwn ? this.#random.one(REMOTES) : main?.isThere ? main.remote : undefined;
    mkdirSync(join(path, 'deep'), { recursive: true });
    if (hasOwn) makeRepository(path, remote);
    else if (main?.isThere) makeWorkTree(path, main);
    this.#folders.set(name, { path, real: path, remote, says: false, hasSeenSays: false, isThere: true, main });
    this.#note(`${name} is ${remote ?? 'a folder'}`);
  }

  // Actions of agents.

  #begin(): void {
    const name = this.#random.one([...NAMES, 'link']) ?? 'one';
    const folder = this.#folders.get(name === 'link' ? 'real' : name);
    if (!folder?.isThere || (name === 'link' && !this.#isLinked)) return;
    const agent = this.#random.one(['claude-code', 'claude-code', 'codex', 'gemini-cli'] as const) ?? 'codex';
    const id = uuid(this.#seed, ++this.#count, this.#seed % 65_536);
    const cwd = join(this.#home, name, this.#random.chance(0.3) ? 'deep' : '');
    this.#add({ id, agent, folder, cwd, parent: undefined }, []);
  }

  #add(made: Pick<Session, 'id' | 'agent' | 'folder' | 'cwd' | 'parent'>, copied: readonly Said[]): Session {
    const session: Session = {
      ...made,
      file: fileOf(this.#home, made),
      isObserved: false,
      hasSeenRemote: false,
      isIncomplete: false,
      said: [...copied],
      verdict: 'none',
      isLost: false,
    };
    this.#sessions.push(session);
    mkdirSync(dirname(session.file), { recursive: true });
    this.#write(session, headOf(session, this.#time()));
    const from = made.parent ? ` from ${this.#nameOf(made.parent)}` : '';
    this.#note(`${made.agent} begins ${this.#nameOf(session)} in ${made.cwd}${from}`);
    if (copied.length === 0) this.#say(session);
    return session;
  }

  #nameOf = (session: Session) => `s${this.#sessions.indexOf(session)}`;

  #time = () => new Date(this.#now).toISOString();

  #say(session: Session): void {
    const marker = this.#marker();
    const record = uuid(this.#seed, ++this.#count, this.#seed % 65_536);
    // Like an agent in a container with a slow clock.
    const isSlow = this.#random.chance(0.05);
    session.isIncomplete ||= isSlow;
    const time = new Date(this.#now - (isSlow ? this.#random.below(600) * MINUTE : 0)).toISOString();
    // The time of a record decides whether it is part of the pause, as it decides whether it is earlier.
    session.said.push({ marker, author: session, isEarlier: false, isPaused: this.#isPaused() && !isSlow });
    this.#write(session, [recordOf(session, record, time, marker)]);
  }

  /** Removes a transcript, like an agent that keeps sessions only for some days. */
  #removeTranscript(): void {
    const session = this.#random.one(this.#kept());
    if (session === undefined) return;
    rmSync(session.file);
    session.isIncomplete = true;
    this.#note(`the transcript of ${this.#nameOf(session)} is gone`);
  }

  #kept = () => this.#sessions.filter(({ file }) => existsSync(file));

  #write({ file }: Session, records: readonly object[]): void {
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''), { flag: 'a' });
    utimesSync(file, this.#now / 1000, this.#now / 1000);
  }

  #goOn(): void {
    const session = this.#random.one(this.#kept());
    if (session === undefined) return;
    for (let more = this.#random.below(3); more >= 0; more--) this.#say(session);
    this.#note(`${this.#nameOf(session)} continues`);
  }

  #fork(): void {
    const parent = this.#random.one(this.#kept().filter(({ agent }) => agent !== 'gemini-cli'));
    if (parent === undefined) return;
    const lines = readFileSync(parent.file, 'utf8').trim().split('\n');
    const isCodex = parent.agent === 'codex';
    const kept = isCodex ? lines : lines.slice(0, 1 + this.#random.below(lines.length));
    const text = kept.join('\n');
    const copied = parent.said.filter(({ marker }) => text.includes(`${marker}"`));
    const id = uuid(this.#seed, ++this.#count, this.#seed % 65_536);
    const elsewhere = this.#folders.get(this.#random.one(NAMES) ?? 'one');
    // Codex may continue in another folder; the records copied by Claude Code have the parent's folder.
    const moves = isCodex && elsewhere?.isThere && this.#random.chance(0.5) ? elsewhere : undefined;
    const { agent, folder, cwd } = parent;
    const fork = this.#add({ id, agent, folder: moves ?? folder, cwd: moves?.path ?? cwd, parent }, copied);
    const timestamp = this.#time();
    const restamp = (line: string) => ({
      ...(JSON.parse(line) as object),
      ...(isCodex ? { timestamp } : { sessionId: id }),
    });
    this.#write(fork, kept.map(restamp));
    if (this.#random.chance(0.7)) this.#say(fork);
  }

  /** Continues a fork, and writes its new record into a transcript that it comes from, too. Capture sees that it names the fork. */
  async #goOnInBoth(): Promise<void> {
    const fork = this.#random.one(this.#kept().filter(({ agent, parent }) => agent === 'claude-code' && parent));
    const other = this.#random.one(ancestorsOf(fork).filter(({ file }) => existsSync(file)));
    if (!fork || !other) return;
    if (this.#random.chance(0.5)) await this.#skip(fork);
    this.#say(fork);
    other.said.push(...fork.said.slice(-1));
    this.#write(other, [lastRecordOf(fork)]);
    this.#note(`${this.#nameOf(other)} contains a record of ${this.#nameOf(fork)}`);
    this.#now += STEP_MS;
    await this.sync(false);
  }

  #restate(): void {
    const session = this.#random.one(this.#kept().filter(({ agent }) => agent === 'gemini-cli'));
    if (session === undefined) return;
    this.#write(session, [restated(session, this.#time())]);
    this.#note(`${this.#nameOf(session)} is written again`);
  }

  // Actions of the person.

  #changeRules(): void {
    const rule = this.#random.one(RULES) ?? '~/plain';
    const rules = this.#random.chance(this.#wishes.included.size > 0 ? 0.5 : 0.1)
      ? this.#wishes.included
      : this.#wishes.excluded;
    if (!rules.delete(rule)) rules.add(rule);
    // Change the length or the time of the file each time, since capture detects changes by them.
    this.#note(this.#wishes.store(this.#now, this.#count++ % 50));
  }

  async #skip(session: Session | undefined): Promise<void> {
    if (session === undefined || session.verdict === 'deleted') return;
    expect(await this.#command('skip', session.id)).toMatchObject({ exitCode: 0 });
    session.verdict = 'skipped';
    this.#note(`skip ${this.#nameOf(session)}`);
  }

  async #undo(): Promise<void> {
    const session = this.#random.one(this.#kept().filter(({ verdict }) => verdict === 'skipped'));
    if (session === undefined) return;
    expect(await this.#command('skip', session.id, '--undo')).toMatchObject({ exitCode: 0 });
    session.verdict = 'wanted';
    this.#note(`skip ${this.#nameOf(session)} --undo`);
  }

  #delete(): void {
    const session = this.#random.one(this.#sessions.filter(({ verdict }) => verdict !== 'deleted'));
    if (session === undefined) return;
    this.#withSpool((spool) => {
      const known = spool.sessions.find(session.agent, session.id);
      if (known === undefined) return;
      const note = noteRecords(this.#context(), spool, { agent: session.agent, session: session.id, unread: [] });
      spool.transact(() => {
        note();
        return spool.keepBack(known.id, 'deleted', this.#now);
      });
      session.verdict = 'deleted';
      this.#note(`delete ${this.#nameOf(session)}`);
    });
  }

  #decide(): void {
    const some = [join(this.#home, this.#random.one(NAMES) ?? 'one')];
    const history = this.#random.one<Consent['history']>(['none', 'none', 'all', some]) ?? 'none';
    if (this.#since === undefined) {
      this.#since = this.#now;
      this.#forget();
    }
    writeConsent(this.#context(), { since: this.#since, history });
    this.#wishes.history = history;
    for (const session of this.#sessions) session.isLost = false;
    this.#note(`earlier sessions: ${String(history)}`);
  }

  #isPaused = () => this.#pause !== undefined && this.#now < this.#pause.until;

  async #startPause(): Promise<void> {
    const hours = this.#random.chance(0.4) ? 1 + this.#random.below(48) : undefined;
    const args = hours === undefined ? [] : ['--for', `${hours}h`];
    expect(await this.#command('pause', ...args)).toMatchObject({ exitCode: 0 });
    this.#pause = { until: hours === undefined ? Number.POSITIVE_INFINITY : this.#now + hours * 60 * MINUTE };
    this.#note(`pause ${args.join(' ')}`);
  }

  async #endPause(): Promise<void> {
    expect(await this.#command('resume')).toMatchObject({ exitCode: 0 });
    this.#pause = undefined;
    this.#note('resume');
  }

  /** Sets the clock back during a pause, and restarts the daemon. */
  async #setClockBack(): Promise<void> {
    if (!this.#isPaused()) return;
    await this.sync();
    this.close();
    this.#now -= this.#random.below(300) * MINUTE;
    this.#wasClockSet = true;
    this.#note('the clock is set back');
    await this.sync();
  }

  /** Makes all messages so far count as earlier. */
  #forget(): void {
    for (const { said } of this.#sessions) for (const one of said) one.isEarlier = true;
    this.#now += 1000;
  }

  // Changes of the disk.

  #changeFolder(): void {
    const name = this.#random.one([...NAMES, 'link']) ?? 'one';
    if (name === 'link') {
      this.#isLinked = !this.#isLinked;
      if (this.#isLinked) symlinkSync(join(this.#home, 'real'), join(this.#home, 'link'));
      else rmSync(join(this.#home, 'link'));
      this.#note(`link is ${this.#isLinked ? 'there' : 'gone'}`);
      return;
    }
    const folder = this.#folders.get(name);
    if (folder === undefined) return;
    if (!folder.isThere) {
      this.#makeFolder(name);
      return;
    }
    const path = join(folder.path, '.session-capture.json');
    if (this.#random.chance(0.5)) {
      folder.says = !folder.says;
      if (folder.says) writeFileSync(path, '{"capture": false}');
      else rmSync(path);
      this.#note(`${name} says ${folder.says ? 'no' : 'nothing'}`);
      return;
    }
    folder.isThere = false;
    folder.says &&= folder.hasSeenSays;
    rmSync(folder.path, { recursive: true });
    this.#note(`${name} is gone`);
  }

  #lose(): void {
    this.close();
    const path = join(this.#home, 'state/decisions.db');
    // Without a spool, capture cannot know that decisions ever existed.
    if (!existsSync(path) || !existsSync(join(this.#home, 'state/spool.db'))) return;
    const isDamaged = this.#random.chance(0.5);
    for (const end of ['-wal', '-shm', '']) rmSync(path + end, { force: true });
    if (isDamaged) writeFileSync(path, 'no database '.repeat(1000));
    // Open the spool, so that capture notices the loss now.
    this.#withSpool(() => {});
    this.#wishes.lose();
    this.#since = this.#now;
    this.#forget();
    for (const session of this.#sessions) {
      // The spool still knows which sessions were deleted at the service, and does not send them again.
      session.isIncomplete ||= session.verdict === 'deleted';
      session.isLost = true;
      session.isObserved = false;
      session.hasSeenRemote = false;
      session.verdict = 'none';
    }
    this.#note(`decisions are ${isDamaged ? 'damaged' : 'lost'}`);
  }

  #loseSpool(): void {
    this.close();
    for (const end of ['-wal', '-shm', '']) rmSync(join(this.#home, `state/spool.db${end}`), { force: true });
    this.#note('the spool is lost');
  }

  #passTime(): void {
    this.#now += this.#random.below(3 * 24 * 60) * MINUTE;
  }

  // Actions of capture.

  #context(): Context {
    return createContext({ home: this.#home, context: { now: () => this.#now } }).context;
  }

  #command(...args: string[]) {
    const options = { home: this.#home, url: 'http://127.0.0.1:9', secret: 'sk_live_test' };
    return run(args, { ...options, context: { now: () => this.#now } });
  }

  #withSpool<Result>(use: (spool: Spool) => Result): Result {
    const spool = openSpool(join(this.#home, 'state/spool.db'));
    try {
      return use(spool);
    } finally {
      spool.close();
    }
  }

  /** Reads new records as the daemon does, and sometimes sends the waiting batches. */
  async sync(mustSend = this.#random.chance(0.7)): Promise<void> {
    const context = this.#context();
    if (this.#live && (isOutdated(context, this.#live) || this.#random.chance(0.3))) this.close();
    if (this.#since === undefined) {
      this.#since = this.#now;
      this.#forget();
    }
    this.#live ??= openLive(context, this.#since, () => this.#now);
    const { spool, reader } = this.#live;
    const reading = { isStopped: () => false, onCommit: async () => {} };
    let isRead = false;
    // One pass may find information that the next pass needs.
    for (let times = 0; !isRead && times < 20; times++) {
      const work = reader.findWork(ownPlaces(context));
      this.#observe();
      isRead = await reader.read(work, reading);
    }
    expect(isRead).toBe(true);
    this.#note(`look${mustSend ? ' and send' : ''}`);
    if (mustSend) this.#send(spool);
  }

  #observe(): void {
    for (const session of this.#sessions) {
      const isLed = this.#isLinked || !isInside(session.cwd, join(this.#home, 'link'));
      if (!session.folder.isThere || !isLed || !existsSync(session.file)) continue;
      session.isObserved = true;
      session.hasSeenRemote ||= session.folder.main?.isThere ?? true;
    }
    for (const folder of this.#folders.values()) folder.hasSeenSays = folder.isThere && folder.says;
    if (this.#isLinked && (this.#wishes.excluded.has('~/link') || this.#wishes.included.has('~/link')))
      this.#wishes.followed.add('~/link');
  }

  /** Takes everything that a sender would send now, and throws if it contains a marker that may not leave. */
  #send(spool: Spool): void {
    for (const { marker } of this.#sessions
      .filter((session) => this.#wishes.mayGo(session))
      .flatMap((one) => this.#wishes.lettable(one))) {
      this.#allowed.add(marker);
    }
    const sent: string[] = [];
    for (const id of spool.batches.waiting({ order: 'oldest', limit: 1000, changedSince: 0, without: [], now: 0 })) {
      const { title, prompt, cwd, branch } = spool.sessions.get(id);
      sent.push(JSON.stringify({ title, prompt, cwd, branch }));
      for (const batch of [...spool.batches.ofSession(id)]) {
        if (!spool.batches.has(batch.id)) continue;
        sent.push(...readEvents(batch));
        spool.batches.remove(batch.id);
      }
    }
    for (const [marker] of sent.join('\n').matchAll(/MARK\d+x\d+M/g)) this.#arrived.add(marker);
    for (const marker of this.#arrived) {
      if (!this.#allowed.has(marker))
        throw new Error(`${marker} of ${this.#ownersOf(marker)} has left the machine:\n${this.log.join('\n')}`);
    }
  }

  /** Checks at the end that every session without an objection has arrived. It may contain a record of a skipped fork. */
  checkComplete(): void {
    const isPlain = (session: Session): boolean =>
      session.verdict === 'none' &&
      !session.isIncomplete &&
      session.parent === undefined &&
      session.isObserved &&
      session.folder.isThere &&
      !session.folder.says &&
      this.#wishes.excluded.size + this.#wishes.included.size === 0 &&
      this.#wishes.mayGo(session);
    if (this.#wishes.history !== 'all' || this.#wasClockSet) return;
    for (const session of this.#sessions.filter(isPlain)) {
      for (const { marker, isPaused } of session.said) {
        if (!isPaused && !this.#arrived.has(marker))
          throw new Error(`${marker} of ${this.#nameOf(session)} is missing:\n${this.log.join('\n')}`);
      }
    }
  }

  #ownersOf = (marker: string) =>
    this.#sessions.filter(({ said }) => said.some((one) => one.marker === marker)).map(this.#nameOf);
}
