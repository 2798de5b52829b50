/** Asks for one name again and again: how long to wait after which answer. */
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import { failureBackOffMs } from '../../dns/failure-back-off.ts';
import type { NameResolver, Resolution } from '../../dns/name-resolver.ts';
import type { DnsSettings } from '../../resolved/resolved-bootstrap.ts';

export interface DnsEnvironment {
  readonly settings: Omit<DnsSettings, 'resolver'>;
  readonly resolver: Pick<NameResolver, 'resolve'>;
  readonly clock: Clock;
  /** From 0 to below 1. */
  readonly random: () => number;
}

export interface DnsAsker {
  asked(): void;
  /** Returns whether the answer counts as a success, which decides the wait. */
  answered(resolution: Resolution): boolean;
}

export class DnsRefresh {
  readonly #name: string;
  readonly #environment: DnsEnvironment;
  readonly #asker: DnsAsker;
  #timer: Timer | undefined;
  #isClosed = false;
  #failuresInARow = 0;

  constructor(name: string, environment: DnsEnvironment, asker: DnsAsker) {
    this.#name = name;
    this.#environment = environment;
    this.#asker = asker;
  }

  start(): void {
    void this.#ask();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #ask(): Promise<void> {
    const { settings, resolver, clock } = this.#environment;
    this.#asker.asked();
    const resolution = await resolver.resolve(this.#name, settings.family);
    if (this.#isClosed) return;
    const isSuccess = this.#asker.answered(resolution);
    this.#failuresInARow = isSuccess ? 0 : this.#failuresInARow + 1;
    const waitMs = isSuccess ? this.#successWaitMs(resolution) : this.#failureWaitMs();
    this.#timer = clock.after(waitMs, () => void this.#ask());
  }

  #successWaitMs(resolution: Resolution): number {
    const { settings, random } = this.#environment;
    let waitMs = settings.refreshMs;
    if (settings.respectsTtl && resolution.outcome === 'found') {
      const ttlS = Math.min(...resolution.addresses.map((address) => address.ttlS));
      // 0 is what the hosts file says, or a server that wants no caching: the rate counts then.
      if (ttlS > 0) waitMs = Math.max(ttlS * 1000, settings.minRefreshMs);
    }
    return waitMs + Math.floor(random() * settings.jitterMs);
  }

  #failureWaitMs(): number {
    const { settings, random } = this.#environment;
    if (settings.failure === undefined) return settings.refreshMs;
    return failureBackOffMs(settings.failure, this.#failuresInARow, random);
  }
}
