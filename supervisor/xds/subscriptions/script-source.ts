/**
 * Hosts that a module of the operator's own finds. Each list is taken as the answer of a control
 * plane would be; a module that fails is begun again, and until then the hosts stay.
 */
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import type { ScriptDiscovery } from '../../resolved/config-source.ts';
import {
  discoveryThreads,
  type DiscoveryListener,
  type RunningDiscovery,
} from '../../scripts/discovery/discovery-threads.ts';
import { decodeResponse, ResponseError, type DecodeEnvironment } from './decode-response.ts';
import type { DiscoverySource, DiscoveryUpdate } from './discovery-update.ts';
import type { Subscription } from './subscription.ts';

export interface ScriptSourceOptions {
  readonly discovery: ScriptDiscovery;
  readonly subscription: Subscription;
  readonly decoding: DecodeEnvironment;
  readonly clock: Clock;
  readonly log: (level: 'debug' | 'info' | 'warning' | 'error', text: string) => void;
}

/** Between two lists at least. */
const PAUSE_MS = 100;
/** Taking lists may need this share of the time at most. */
const PAUSE_FACTOR = 10;
/** After a failure; twice as long after each further one in a row. */
const BACK_OFF_MS = 200;
const BACK_OFF_MAX_MS = 60_000;
/** One that gives a list and fails at once, again and again, has not recovered. */
const STEADY_MS = 10_000;

export class ScriptSource implements DiscoverySource, DiscoveryListener {
  readonly #options: ScriptSourceOptions;
  #running: RunningDiscovery | undefined;
  #again: Timer | undefined;
  #failures = 0;
  #beganMs = 0;
  #hasList = false;
  #isClosed = false;

  constructor(options: ScriptSourceOptions) {
    this.#options = options;
  }

  start(): void {
    this.#options.subscription.startTimer();
    this.#begin();
  }

  close(): void {
    this.#isClosed = true;
    this.#again?.cancel();
    this.#running?.close();
  }

  hosts(content: Uint8Array): void {
    const { discovery, subscription, decoding } = this.#options;
    const name = discovery.module.entry;
    const source = { name, format: 'json' as const, content: Buffer.from(content.buffer) };
    void this.#deliver(() => decodeResponse(source, subscription.type, decoding));
  }

  refused(reason: string): void {
    void this.#deliver(() => Promise.reject(new ResponseError('refused', this.#named(reason))));
  }

  replaced(): void {
    this.#running = undefined;
    if (!this.#isClosed) this.#begin();
  }

  ended(reason: string | undefined): void {
    // A list that is the last one stays; its module may have a newer version later.
    if (this.#isClosed || (reason === undefined && this.#hasList)) return;
    this.#running?.close();
    this.#running = undefined;
    this.#fail(reason ?? 'it gave no list of hosts');
  }

  log(level: 'debug' | 'info' | 'warning' | 'error', text: string): void {
    this.#options.log(level, this.#named(text));
  }

  #begin(): void {
    this.#beganMs = this.#options.clock.monotonicMs();
    this.#running = discoveryThreads.open(this.#options.discovery, this);
    if (this.#running === undefined) this.#fail('too many modules find hosts');
  }

  async #deliver(decode: () => Promise<DiscoveryUpdate>): Promise<void> {
    const { subscription, clock } = this.#options;
    const running = this.#running;
    const beganMs = clock.monotonicMs();
    subscription.attempted();
    const refusal = await subscription.deliver(decode);
    if (refusal === undefined) {
      this.#hasList = true;
      if (beganMs - this.#beganMs >= STEADY_MS) this.#failures = 0;
    }
    const tookMs = clock.monotonicMs() - beganMs;
    const pauseMs = refusal === undefined ? tookMs * PAUSE_FACTOR : this.#nextBackOffMs();
    running?.next(Math.max(PAUSE_MS, pauseMs));
  }

  #fail(reason: string): void {
    const { subscription, clock } = this.#options;
    subscription.attempted();
    subscription.failed(this.#named(reason));
    this.#again = clock.after(this.#nextBackOffMs(), () => this.#begin(), { unref: true });
  }

  #nextBackOffMs(): number {
    return Math.min(BACK_OFF_MAX_MS, BACK_OFF_MS * 2 ** Math.min(this.#failures++, 10));
  }

  #named(text: string): string {
    const { cluster, module } = this.#options.discovery;
    return `${cluster} (${module.entry}): ${text}`;
  }
}
