/**
 * The first messages between the supervisor and one worker: both say which build they are, the
 * worker gets its heritage and answers that it awaits resources.
 */
import { buildId } from '../../shared/channel/build-id.ts';
import {
  PROTOCOL_VERSION,
  type Hello,
  type WorkerHeritage,
} from '../../shared/messages/heritage.ts';
import type { SupervisorToWorker } from '../../shared/messages/supervisor-to-worker.ts';
import { type Clock, processAgeMs } from '../../shared/process/clock.ts';
import { Deferred } from './deferred.ts';

/** From spawn to the worker's hello and from `start` to `ready`, each. */
const START_LIMIT_MS = 10_000;

export interface StartHandshakeOptions {
  readonly clock: Clock;
  readonly post: (message: SupervisorToWorker) => void;
  readonly tookTooLong: () => void;
  /** A step was taken: what to write at level debug. */
  readonly note: (text: string) => void;
  /** The worker is of another build than this process. */
  mismatched(text: string): void;
}

export class StartHandshake {
  readonly #options: StartHandshakeOptions;
  readonly #greeted = new Deferred();
  readonly #ready = new Deferred();

  constructor(options: StartHandshakeOptions) {
    this.#options = options;
  }

  greet(): void {
    this.#options.post({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      buildId: buildId(),
      pid: process.pid,
    });
  }

  /** Resolves when the worker awaits resources; rejects with `CallError` when it ends before. */
  async start(heritage: WorkerHeritage): Promise<void> {
    const { clock, post, tookTooLong } = this.#options;
    const limit = clock.after(2 * START_LIMIT_MS, tookTooLong);
    try {
      await this.#greeted.promise;
      post({ kind: 'start', heritage });
      await this.#ready.promise;
    } finally {
      limit.cancel();
    }
  }

  onHello(hello: Hello): void {
    if (hello.protocolVersion === PROTOCOL_VERSION && hello.buildId === buildId()) {
      this.#options.note(`has loaded itself after ${processAgeMs()} ms`);
      this.#greeted.resolve();
      return;
    }
    this.#options.mismatched(
      `is another build (${hello.buildId}) than this process (${buildId()}): ` +
        'the files on disk were changed under a running server; a hot restart is needed',
    );
  }

  onReady(): void {
    this.#options.note(`is warmed up and set up after ${processAgeMs()} ms`);
    this.#ready.resolve();
  }

  /** The worker has ended. */
  fail(reason: string): void {
    this.#greeted.reject(reason);
    this.#ready.reject(reason);
  }
}
