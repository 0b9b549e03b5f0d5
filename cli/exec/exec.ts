import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatCount } from '../../contract/count.ts';
import { keyPath } from '../../redact/key.ts';
import { askAccount, locateSpool } from '../account.ts';
import { requireSettings, type Settings, stateFolder } from '../config.ts';
import { type Context, childEnvironment, type Sink } from '../context.ts';
import { runDaemon } from '../daemon/daemon.ts';
import { findDashboard, sessionPage } from '../dashboard.ts';
import { isActive } from '../decide/pauses.ts';
import { codeOf, describe, EXIT, Failure, toFailure } from '../failure.ts';
import { importAll } from '../import/capture.ts';
import { createStateReport } from '../inspect/report.ts';
import { createOutput, type Output } from '../output.ts';
import { readConsent, writeConsent } from '../privacy/consent.ts';
import { preferencesPath } from '../privacy/preferences.ts';
import { ownPlaces } from '../read/places.ts';
import { copyDecisions, openDecisions } from '../spool/decisions.ts';
import { openSpool } from '../spool/open.ts';
import { explainRefusal, isTemporary, tellTrouble } from '../upload/problem.ts';
import { createService } from '../upload/service.ts';

export interface ExecOptions {
  /** The command and its arguments. */
  words: readonly string[];
  /** The machine's name in the dashboard. Defaults to its host name. */
  machine: string | undefined;
  /** How long the service may take to accept the rest after the agent has ended; milliseconds. */
  withinMs: number;
}

/** The time limit of the first request, which asks whether the service accepts the secret. */
const ASK_MS = 10_000;
/** The most session pages printed at the end. */
const MAX_PAGES = 5;
const NOWHERE: Sink = { write() {} };

/**
 * Runs a command and captures the agents' records meanwhile. Returns the command's exit code once the service has
 * acknowledged everything, or once the time for that is over. All state is in a folder that is deleted at the end.
 */
export async function execute(context: Context, options: ExecOptions, output: Output): Promise<number> {
  const settings = requireSettings(context);
  await requireAccepted(context, settings, output);
  const state = mkdtempSync(join(tmpdir(), 'capture-exec-'));
  try {
    const job = new Job(context, { ...options, settings, state }, output);
    return await job.run();
  } finally {
    rmSync(state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Throws if the service refuses the secret, because nobody wants to find that out after an hour's work. */
async function requireAccepted({ fetch }: Context, settings: Settings, output: Output): Promise<void> {
  try {
    await askAccount(createService({ ...settings, fetch, timeoutMs: ASK_MS }));
  } catch (error) {
    if (!isTemporary(error)) throw explainRefusal(error, 'Nothing was run.');
    output.warn(`${tellTrouble(settings.url, error)}. Capture keeps trying.`);
  }
}

interface JobOptions extends ExecOptions {
  settings: Settings;
  /** The state folder of this job. */
  state: string;
}

/** A running command, and the capture of the agents it starts. */
class Job {
  readonly #context: Context;
  readonly #options: JobOptions;
  readonly #output: Output;
  /** Ends capturing when the command has ended. */
  readonly #ended = new AbortController();
  /** Ends the delivery of the rest. */
  readonly #givenUp = new AbortController();
  #passSignal: (signal: NodeJS.Signals) => void = () => {};

  constructor(context: Context, options: JobOptions, output: Output) {
    this.#context = context;
    this.#options = options;
    this.#output = output;
  }

  async run(): Promise<number> {
    this.#prepareState();
    this.#warnOfPause();
    this.#context.takeSignals((signal) => this.#passSignal(signal));
    // Transcripts that cannot be captured now, for instance while the service is down, are read again at the end.
    const within = this.#within(this.#ended.signal);
    const options = { places: this.#places(), report: createStateReport(within) };
    const capturing = runDaemon(within, options, this.#silent()).catch(() => {});
    const exitCode = this.#runCommand();
    // If the command could not be started, there is nothing to deliver.
    const hasRun = await exitCode.then(
      () => true,
      () => false,
    );
    this.#ended.abort();
    await capturing;
    if (hasRun) await this.#deliver();
    return exitCode;
  }

  /**
   * The person's preferences and skipped sessions apply here as well. Of older sessions, only the records added during this
   * run are captured.
   */
  #prepareState(): void {
    const inside = this.#within(this.#ended.signal);
    const own = stateFolder(this.#context);
    const copies = [
      [preferencesPath(this.#context), preferencesPath(inside)],
      // The hashes of kept-back sessions were made with this key.
      [keyPath(own), keyPath(this.#options.state)],
    ] as const;
    for (const [from, to] of copies) if (existsSync(from)) cpSync(from, to);
    const loss = this.#findLoss();
    copyDecisions(own, this.#options.state);
    writeConsent(inside, { since: this.#context.now(), history: 'none', ...(loss && { isLost: true }) });
    if (loss === undefined) return;
    this.#output.warn(
      `The decisions about sessions on this machine ${loss.sentence} ` +
        `Sessions that began before this run are not captured. ${loss.hint}`,
    );
  }

  #warnOfPause(): void {
    const decisions = openDecisions(this.#options.state);
    const isPaused = decisions?.pauses().some((pause) => isActive(pause, this.#context.now())) ?? false;
    decisions?.close();
    if (isPaused)
      this.#output.warn('Capture is paused, so nothing of this run is captured. `capture resume` ends the pause.');
  }

  /**
   * Why the decisions made on this machine are unknown; undefined if they are known. If the spool was filled under other
   * decisions, the decisions are lost.
   */
  #findLoss(): { sentence: string; hint: string } | undefined {
    try {
      const spool = locateSpool(this.#context);
      if (spool !== undefined) openSpool(spool).close();
      const isLost = readConsent(this.#context)?.isLost === true;
      return isLost ? { sentence: 'are lost.', hint: 'Decide again with `capture init`.' } : undefined;
    } catch (error) {
      const { message, hint = 'See `capture status`.' } = toFailure(error);
      return { sentence: `cannot be read: ${message.replace(/\.?$/, '.')}`, hint };
    }
  }

  /** The command's exit code. If a signal ended the command, the code is 128 plus the signal's number, as in shells. */
  #runCommand(): Promise<number> {
    const { stdin, stdout, stderr, spawn, variables, folder } = this.#context;
    const [command = '', ...args] = this.#options.words;
    // A terminal sends Ctrl-C to the command as well.
    const hasTerminal = [stdin, stdout, stderr].some(({ isTTY }) => isTTY);
    const child = spawn(command, args, { cwd: folder, env: childEnvironment(variables), stdio: 'inherit' });
    this.#passSignal = (signal) => {
      if (signal !== 'SIGINT' || !hasTerminal) child.kill(signal);
    };
    return new Promise((resolve, reject) => {
      child.once('error', (error) => reject(notStarted(command, error)));
      child.once('exit', (code, signal) => {
        this.#passSignal = () => this.#givenUp.abort();
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
      });
    });
  }

  /** Reads the unread records, completes the sessions, waits for the service, and reports the result. */
  async #deliver(): Promise<void> {
    const { withinMs } = this.#options;
    const inside = this.#within(AbortSignal.any([this.#givenUp.signal, AbortSignal.timeout(withinMs)]));
    const importing = importAll(
      inside,
      {
        places: this.#places(),
        onTrouble: ({ path, reason }) => this.#output.warn(`${path} cannot be read: ${reason}`),
        patienceMs: withinMs,
        isNamed: false,
        areOver: true,
      },
      this.#silent(),
    );
    try {
      await Promise.race([importing, this.#late(inside.stop)]);
      await this.#describeCaptured(inside);
    } catch (error) {
      const { message } = toFailure(error);
      this.#output.warn(
        `Not all of this run could be delivered: ${message} ` +
          'The rest is only in the transcripts of the agent. `capture import` sends it from there.',
      );
    }
  }

  /** A request in progress takes at most five more seconds; see `startSending`. */
  async #late(stop: AbortSignal): Promise<never> {
    if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
    await sleep(GRACE_MS, undefined, { ref: false });
    throw new Failure(EXIT.temporary, `The service did not accept it within ${this.#options.withinMs / 1000} s.`);
  }

  async #describeCaptured(inside: Context): Promise<void> {
    const path = locateSpool(inside);
    if (path === undefined) return;
    const spool = openSpool(path);
    try {
      const { eventsSent, eventsKnown } = spool.counters();
      const pages = spool.sessions.list().flatMap(({ id }) => spool.sessions.serviceIds(id));
      const events = formatCount(eventsSent + eventsKnown, 'event');
      this.#output.say(`Captured ${events} of ${formatCount(pages.length, 'session')}.`);
      if (pages.length === 0) return;
      const dashboard = await findDashboard(inside, this.#options.settings.url);
      for (const id of pages.slice(0, MAX_PAGES)) this.#output.say(`  ${sessionPage(dashboard, id)}`);
    } finally {
      spool.close();
    }
  }

  /** The folders of the agent that the command runs, or of all agents if the command is no known agent. */
  #places() {
    const inside = this.#within(this.#ended.signal);
    const program = basename(this.#options.words[0] ?? '').replace(/\.(exe|cmd)$/i, '');
    const agents = inside.agents.filter(({ programs }) => programs?.includes(program));
    return ownPlaces({ ...inside, agents: agents.length > 0 ? agents : inside.agents });
  }

  /** The context for capturing: it has its own state and prints nothing, since the command uses the terminal. */
  #within(stop: AbortSignal): Context {
    const { settings, state, machine } = this.#options;
    const { variables, hostname } = this.#context;
    return {
      ...this.#context,
      variables: { ...variables, CAPTURE_HOME: state, CAPTURE_URL: settings.url, CAPTURE_SECRET: settings.secret },
      hostname: machine ?? hostname,
      stdout: NOWHERE,
      stderr: NOWHERE,
      stop,
    };
  }

  #silent(): Output {
    return createOutput({ stdout: NOWHERE, stderr: NOWHERE }, { quiet: true });
  }
}

/** Longer than a request in progress may still take after the sender was asked to stop. */
const GRACE_MS = 6000;

/** The same exit codes as in shells. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

function notStarted(command: string, error: Error): Failure {
  const isMissing = codeOf(error) === 'ENOENT';
  const why = isMissing ? 'it was not found' : describe(error);
  const hint = 'Check the command after `--`.';
  return new Failure(isMissing ? NOT_FOUND : NOT_EXECUTABLE, `${command} could not be started: ${why}.`, hint, error);
}
