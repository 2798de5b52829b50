/**
 * Which epochs run and what is to be done next: the restarter's decisions as a pure state machine.
 * It starts and signals nothing; every method returns the effects for the caller to carry out.
 */

type EpochState = 'starting' | 'live' | 'draining' | 'rejected';

export interface Epoch {
  readonly number: number;
  readonly pid: number;
  state: EpochState;
}

export type Effect =
  | { readonly kind: 'start'; readonly epoch: number }
  | {
      readonly kind: 'signal';
      readonly pid: number;
      readonly signal: 'SIGTERM' | 'SIGKILL' | 'SIGUSR1';
    }
  | { readonly kind: 'report'; readonly event: ReportEvent; readonly text: string }
  /** All epochs are gone. */
  | { readonly kind: 'exit'; readonly code: number };

export type ReportEvent = 'ready' | 'reloading' | 'rolled_back' | 'refused' | 'stopping' | 'failed';

export class EpochSet {
  readonly #epochs = new Map<number, Epoch>();
  /** Set when everything is to end; the code to exit with. */
  #endingCode: number | undefined;
  #endSignals = 0;
  /** An epoch that was asked for and has no process yet. */
  #pendingStart: number | undefined = 0;

  get epochs(): readonly Epoch[] {
    return [...this.#epochs.values()];
  }

  get live(): Epoch | undefined {
    return this.epochs.find(({ state }) => state === 'live');
  }

  get isEnding(): boolean {
    return this.#endingCode !== undefined;
  }

  /** The process of an epoch that was to be started is there. */
  started(number: number, pid: number): void {
    this.#pendingStart = undefined;
    this.#epochs.set(number, { number, pid, state: 'starting' });
  }

  /** SIGHUP: the next epoch, unless one is on its way. */
  restart(): Effect[] {
    const busy = this.#busyReason();
    if (busy !== undefined) return [report('refused', `hot restart refused: ${busy}`)];
    const next = (this.live?.number ?? -1) + 1;
    this.#pendingStart = next;
    return [report('reloading', `starting epoch ${next}`), { kind: 'start', epoch: next }];
  }

  /** An epoch says that it is live: the one before it drains from now on. */
  becameLive(number: number): Effect[] {
    const epoch = this.#epochs.get(number);
    if (epoch?.state !== 'starting') return [];
    for (const other of this.#epochs.values()) if (other.state === 'live') other.state = 'draining';
    epoch.state = 'live';
    return [report('ready', `epoch ${number} is live`)];
  }

  /** An epoch did not become live in time: it is ended, and the one before it stays. */
  startTimedOut(number: number): Effect[] {
    const epoch = this.#epochs.get(number);
    if (epoch?.state !== 'starting') return [];
    epoch.state = 'rejected';
    return [
      report('failed', `epoch ${number} did not become live in time`),
      { kind: 'signal', pid: epoch.pid, signal: 'SIGKILL' },
    ];
  }

  /** The program could not be started at all. */
  startFailed(number: number, reason: string): Effect[] {
    this.#pendingStart = undefined;
    return this.#rejected(`epoch ${number} cannot be started: ${reason}`, 1);
  }

  /** A process ended; `code` is its exit code, or 128 and the signal's number. */
  exited(number: number, code: number): Effect[] {
    const epoch = this.#epochs.get(number);
    if (epoch === undefined) return [];
    this.#epochs.delete(number);
    if (this.isEnding) return this.#exitWhenEmpty();
    switch (epoch.state) {
      case 'starting':
      case 'rejected':
        return this.#rejected(`epoch ${number} ended with code ${code} before it was live`, code);
      case 'draining':
        return [];
      case 'live':
        return this.#end(code, `epoch ${number} ended with code ${code}`);
    }
  }

  /** SIGTERM or SIGINT: everything ends; the second time at once. */
  terminate(): Effect[] {
    this.#endSignals++;
    if (this.#endSignals === 1 && !this.isEnding) return this.#end(0, 'ending all epochs');
    return this.epochs.map(({ pid }) => ({ kind: 'signal', pid, signal: 'SIGKILL' }));
  }

  /** SIGUSR1 goes to epochs that are live or were: a starting one could not take it yet. */
  reopenLogs(): Effect[] {
    return this.epochs
      .filter(({ state }) => state === 'live' || state === 'draining')
      .map(({ pid }) => ({ kind: 'signal', pid, signal: 'SIGUSR1' }));
  }

  #busyReason(): string | undefined {
    if (this.isEnding) return 'all epochs are ending';
    if (this.#pendingStart !== undefined) return `epoch ${this.#pendingStart} is starting`;
    const busy = this.epochs.find(({ state }) => state === 'starting' || state === 'rejected');
    if (busy === undefined) return undefined;
    return `epoch ${busy.number} (pid ${busy.pid}) is still starting`;
  }

  #rejected(why: string, code: number): Effect[] {
    const live = this.live;
    if (live === undefined) return this.#end(code === 0 ? 1 : code, why);
    return [report('rolled_back', `${why}; epoch ${live.number} serves on`)];
  }

  #end(code: number, why: string): Effect[] {
    this.#endingCode = code;
    return [
      report('stopping', why),
      ...this.epochs.map(({ pid }): Effect => ({ kind: 'signal', pid, signal: 'SIGTERM' })),
      ...this.#exitWhenEmpty(),
    ];
  }

  #exitWhenEmpty(): Effect[] {
    if (this.#epochs.size > 0) return [];
    return [{ kind: 'exit', code: this.#endingCode ?? 0 }];
  }
}

function report(event: ReportEvent, text: string): Effect {
  return { kind: 'report', event, text };
}
