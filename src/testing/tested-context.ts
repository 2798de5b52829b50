/** What a filter that is tested has around it, in place of a worker. */
import { ScriptMarks } from '../../shared/limits/script-page.ts';
import { systemClock } from '../../shared/process/clock.ts';
import type { FilterDefinition } from '../../shared/scripts/filter.ts';
import type { ScriptFilterSettings } from '../../shared/resources/filters/http/script/script.ts';
import type { FilterContext } from '../../workers/filters/filter-context.ts';
import type { ModuleUser } from '../../workers/scripts/host-modules.ts';
import { WorkerLoop } from '../../workers/loop/worker-loop.ts';
import type {
  CallFailure,
  ServiceCallbacks,
  ServiceClient,
  ServiceRequest,
} from '../../workers/services/service-client.ts';
import { SharedMaps as OrderedMaps } from '../../supervisor/processes/shared-maps.ts';
import { SharedMaps } from '../../workers/filters/http/script/shared-maps.ts';
import { CollectedRequest, responseMessage } from './tested-messages.ts';
import { TestedStats } from './tested-stats.ts';
import type { TestOptions, Upstream } from './testing-api.ts';

const CALLBACK_TIMEOUT_MS = 15_000;
const BUFFER_LIMIT_BYTES = 1024 * 1024;
const PREFIX = 'http.test.';

export interface TestedWorker {
  readonly context: FilterContext;
  readonly loop: WorkerLoop;
  readonly stats: TestedStats;
  readonly log: string[];
  /** Resolves when the module is ready; rejects with why it is not. */
  ready(): Promise<void>;
  close(): void;
}

export function filterSettings(name: string, options: TestOptions): ScriptFilterSettings {
  return {
    kind: 'script',
    name,
    options: {
      // It is in this process already.
      module: { entry: name, digest: '', files: [] },
      settings: JSON.stringify(options.settings ?? {}),
      failsOpen: options.failurePolicy === 'FAIL_OPEN',
      callbackTimeoutMs: options.callbackTimeoutMs ?? CALLBACK_TIMEOUT_MS,
      loopTimeoutMs: CALLBACK_TIMEOUT_MS,
      loadTimeoutMs: CALLBACK_TIMEOUT_MS,
      statPrefix: name,
    },
  };
}

export function statPrefix(name: string): string {
  return `${PREFIX}script.${name}.`;
}

export function makeWorker(definition: FilterDefinition, options: TestOptions): TestedWorker {
  const stats = new TestedStats();
  const log: string[] = [];
  const loop = new WorkerLoop(systemClock, undefined, {
    note: (error) => log.push(`error: ${String(error)}`),
  });
  const releases: (() => void)[] = [];
  const loading: Promise<void>[] = [];
  const join = (user: ModuleUser): { readonly ready: Promise<void>; leave(): void } => {
    const prepared = user.prepare({ kind: 'filter', definition }, 1).then((act) => act());
    loading.push(prepared);
    return { ready: prepared.catch((error: unknown) => user.failed(error)), leave: ignored };
  };
  const parts: TestedParts = {
    loop,
    stats,
    statScope: PREFIX,
    bufferLimitBytes: options.bufferLimitBytes ?? BUFFER_LIMIT_BYTES,
    countRequestTooLarge: ignored,
    countResponseTooLarge: ignored,
    services: new TestedClusters(loop, new Map(Object.entries(options.clusters ?? {}))),
    onBlock: ignored,
    onRelease: (act) => void releases.push(act),
    log: (level, _component, text) => void log.push(`${level}: ${text}`),
  };
  // One worker alone, whose changes are in their order at once.
  const maps: SharedMaps = new SharedMaps((notice) => order.noticed(0, notice));
  const order = new OrderedMaps({
    clock: systemClock,
    tell: (_, command) => {
      maps.take(command);
      return true;
    },
  });
  const scripts = {
    maps,
    marks: ScriptMarks.apart(),
    join: (_: unknown, user: ModuleUser) => join(user),
  };
  const context = { ...parts, scripts, startTasks: { add: ignored } } as unknown as FilterContext;
  return {
    context,
    loop,
    stats,
    log,
    ready: async () => void (await Promise.all(loading)),
    close: () => {
      for (const act of releases) act();
    },
  };
}

/** What the filter asks of a worker. */
type TestedParts = Pick<
  FilterContext,
  | 'loop'
  | 'stats'
  | 'statScope'
  | 'bufferLimitBytes'
  | 'countRequestTooLarge'
  | 'countResponseTooLarge'
  | 'services'
  | 'onBlock'
  | 'onRelease'
  | 'log'
>;

function ignored(): void {
  // Nobody counts it.
}

/** Clusters whose hosts are functions of the test. */
class TestedClusters implements ServiceClient {
  readonly #loop: WorkerLoop;
  readonly #upstreams: ReadonlyMap<string, Upstream>;

  constructor(loop: WorkerLoop, upstreams: ReadonlyMap<string, Upstream>) {
    this.#loop = loop;
    this.#upstreams = upstreams;
  }

  send(
    cluster: string,
    request: ServiceRequest,
    callbacks: ServiceCallbacks,
  ): ReturnType<ServiceClient['send']> {
    const upstream = this.#upstreams.get(cluster);
    if (upstream === undefined) return undefined;
    const call = new TestedCall(this.#loop, upstream, request, callbacks);
    if (request.endStream) call.end();
    return call;
  }
}

class TestedCall {
  readonly #loop: WorkerLoop;
  readonly #upstream: Upstream;
  readonly #callbacks: ServiceCallbacks;
  readonly #request: CollectedRequest;
  readonly #retries: number;
  #limit: ReturnType<typeof systemClock.after> | undefined = undefined;
  #isOver = false;

  constructor(
    loop: WorkerLoop,
    upstream: Upstream,
    { headers, timeoutMs, retryPolicy }: ServiceRequest,
    callbacks: ServiceCallbacks,
  ) {
    this.#loop = loop;
    this.#upstream = upstream;
    this.#callbacks = callbacks;
    this.#request = new CollectedRequest(headers);
    this.#retries = retryPolicy?.policy.numRetries ?? 0;
    if (timeoutMs > 0) {
      this.#limit = systemClock.after(timeoutMs, () =>
        this.#fail({ status: 504, details: 'upstream_response_timeout', body: '' }),
      );
    }
  }

  sendData(data: Buffer, endStream: boolean): void {
    this.#request.add(data);
    if (endStream) this.end();
  }

  sendTrailers(): void {
    this.end();
  }

  pauseResponse(): void {
    // It is here at once.
  }

  cancel(): void {
    this.#isOver = true;
    this.#limit?.cancel();
  }

  /** The request is whole. */
  end(): void {
    void this.#answer(this.#retries);
  }

  async #answer(retriesLeft: number): Promise<void> {
    try {
      const response = (await this.#upstream(this.#request)) ?? {};
      const { headers, pieces } = responseMessage(response);
      if (headers.status >= 500 && retriesLeft > 0) return await this.#answer(retriesLeft - 1);
      this.#settle(() => {
        this.#callbacks.onHeaders(headers, pieces.length === 0);
        if (pieces.length > 0) this.#callbacks.onData(Buffer.concat(pieces), true);
      });
    } catch (error) {
      if (retriesLeft > 0) return await this.#answer(retriesLeft - 1);
      this.#fail({ status: 503, details: `upstream_reset: ${String(error)}`, body: '' });
    }
  }

  #fail(failure: CallFailure): void {
    this.#settle(() => this.#callbacks.onFailure(failure));
  }

  #settle(act: () => void): void {
    if (this.#isOver) return;
    this.cancel();
    this.#loop.run(this.#callbacks, act);
  }
}
