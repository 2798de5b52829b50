/**
 * One interest in resources: counts what happens to it, knows how long its first answer is waited
 * for, and hands answers on one after the other. How they are fetched is the source's matter, what
 * they mean the consumer's.
 */
import { errorText } from '../../../shared/text/error-text.ts';
import { shortened } from '../../../shared/text/shortened.ts';
import type { ConfigHistory } from '../../store/config-history.ts';
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import { ResponseError } from './decode-response.ts';
import type { DiscoveryStats } from './discovery-stats.ts';
import type { DiscoveryConsumer, DiscoveryUpdate } from './discovery-update.ts';
import type { ResourceType } from '../../resolved/resource-kinds.ts';
import type { SubscriptionTexts } from './subscription-texts.ts';

export interface SubscriptionOptions {
  readonly type: ResourceType;
  /** None: all that there are. */
  readonly names: readonly string[];
  readonly stats: DiscoveryStats;
  readonly consumer: DiscoveryConsumer;
  readonly clock: Clock;
  /** 0: for ever. */
  readonly initialFetchTimeoutMs: number;
  readonly words: SubscriptionTexts;
  readonly log: (level: 'debug' | 'warning', text: string) => void;
  /** What was accepted before this server started, for when nobody answers; absent: nothing is. */
  readonly earlier?: () => DiscoveryUpdate | undefined;
  /** Told of who brings what, and of what is refused; absent: nobody is. */
  readonly history?: Pick<ConfigHistory, 'taken' | 'note'>;
  /** Who brings it, for the history. */
  readonly origin?: string;
  /** Told of every update that was accepted. */
  readonly accepted?: (update: DiscoveryUpdate) => void;
}

export class Subscription {
  readonly type: ResourceType;
  readonly names: readonly string[];
  readonly #options: SubscriptionOptions;
  #queue: Promise<unknown> = Promise.resolve();
  #timer: Timer | undefined;
  #isSettled = false;
  #isClosed = false;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.type = options.type;
    this.names = options.names;
  }

  /** For sources that may keep silent. */
  startTimer(timedOut: () => void = () => undefined): void {
    const { clock, initialFetchTimeoutMs, stats, words, log } = this.#options;
    if (initialFetchTimeoutMs === 0 || this.#isSettled || this.#timer !== undefined) return;
    this.#timer = clock.after(initialFetchTimeoutMs, () => {
      log('warning', words.timedOut);
      stats.count('init_fetch_timeout');
      timedOut();
      if (!this.#begin()) this.#settle();
    });
  }

  /** A stream counts the question, and whatever comes of it, as an attempt each. */
  startStream(): void {
    this.attempted();
    this.startTimer(() => this.attempted());
  }

  streamFailed(reason: string): void {
    this.attempted();
    // One stream may carry thousands of subscriptions, and says itself that it ended.
    this.failed(reason, 'debug');
  }

  deliverStream(decode: () => Promise<DiscoveryUpdate>): Promise<string | undefined> {
    this.attempted();
    return this.deliver(decode, { isTimed: true });
  }

  /** The answer was refused for what it has for others. */
  refusedBeside(reason: string): void {
    if (this.#isClosed) return;
    this.attempted();
    this.#reject(reason);
  }

  attempted(): void {
    if (!this.#isClosed) this.#options.stats.count('update_attempt');
  }

  /** Nothing could be asked or nothing came back. */
  failed(reason: string, level: 'debug' | 'warning' = 'warning'): void {
    if (this.#isClosed) return;
    this.#options.log(level, this.#options.words.failed(shortened(reason)));
    this.#options.stats.count('update_failure');
    this.#begin();
  }

  /**
   * Takes an answer when those before it are done; `decode` may reject with `ResponseError`.
   * Resolves with why it was refused. A source that is read as a whole (`isFile`) fails where it
   * cannot be read.
   */
  deliver(
    decode: () => Promise<DiscoveryUpdate>,
    how: { readonly isFile?: boolean; readonly isTimed?: boolean } = {},
  ): Promise<string | undefined> {
    const result = this.#queue.then(() => this.#take(decode, how));
    this.#queue = result;
    return result;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#options.stats.release();
  }

  async #take(
    decode: () => Promise<DiscoveryUpdate>,
    { isFile = false, isTimed = false }: { readonly isFile?: boolean; readonly isTimed?: boolean },
  ): Promise<string | undefined> {
    const { clock, consumer, stats } = this.#options;
    if (this.#isClosed) return undefined;
    const startedMs = clock.monotonicMs();
    let update: DiscoveryUpdate;
    try {
      update = await decode();
    } catch (error) {
      return this.#isClosed ? undefined : this.#unreadable(error, isFile);
    }
    if (this.#isClosed) return undefined;
    this.#options.history?.taken(this.type.kind, this.#options.origin ?? '', update.versionInfo);
    const refusal = await consumer.update(update);
    // The consumer may have ended this subscription by what it made of the update.
    if (this.#hasClosed()) return refusal;
    if (refusal === undefined) this.#accepted(update);
    else this.#reject(refusal);
    if (isTimed) stats.tookMs(clock.monotonicMs() - startedMs);
    this.#settle();
    return refusal;
  }

  /** An answer that nobody could look at. Returns why. */
  #unreadable(error: unknown, isFile: boolean): string {
    const reason = errorText(error);
    const isUnreadable = !(error instanceof ResponseError) || error.code === 'unreadable';
    if (isFile && isUnreadable) this.failed(reason);
    else this.#reject(reason);
    this.#options.consumer.refused(reason);
    this.#settle();
    return reason;
  }

  #accepted(update: DiscoveryUpdate): void {
    const { clock, stats, accepted } = this.#options;
    stats.applied(update.versionInfo, clock.wallMs());
    accepted?.(update);
  }

  /** Begins with what an earlier server had, where nothing came yet; whether there is any. */
  #begin(): boolean {
    const update = this.#isSettled ? undefined : this.#options.earlier?.();
    if (update === undefined) return false;
    const names = this.names.length === 0 ? '' : ` (${this.names.join(', ')})`;
    const text = `${this.type.message}${names}: using what was accepted before the start`;
    this.#options.log('warning', text);
    void this.deliver(() => Promise.resolve(update));
    return true;
  }

  #hasClosed(): boolean {
    return this.#isClosed;
  }

  #reject(reason: string): void {
    const { history } = this.#options;
    const name = this.names.join(', ');
    history?.note({ kind: this.type.kind, name, change: 'answer_refused', version: '', reason });
    this.#options.stats.count('update_rejected');
    this.#options.log('warning', this.#options.words.rejected(shortened(reason)));
  }

  #settle(): void {
    this.#timer?.cancel();
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#options.consumer.settled();
  }
}
