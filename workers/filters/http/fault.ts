/**
 * Delays and aborts requests on purpose, as configured for the chain, for the route or by request
 * headers. Source: envoy.filters.http.fault.
 */
import type {
  FaultOptions,
  FaultFilterSettings,
} from '../../../shared/resources/filters/http/fault.ts';
import type { RuntimeFraction } from '../../../shared/resources/routes/matchers.ts';
import { readInteger } from '../../../shared/runtime/read-runtime.ts';
import { FAULT } from '../../../shared/resources/filters/http/fault.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';
import {
  compileHeaderMatchers,
  type HeaderPredicate,
} from '../../../shared/matchers/header-matcher.ts';
import { isEnabled } from '../../loop/runtime.ts';
import type { SharedCount } from '../../loop/shared-count.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import { CompiledSettings, type FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

interface CompiledFault {
  readonly options: FaultOptions;
  readonly matches: HeaderPredicate | undefined;
}

interface FaultParts {
  readonly name: string;
  readonly context: FilterContext;
  readonly base: number;
  readonly own: FaultOptions;
  readonly compiled: CompiledSettings<FaultOptions, CompiledFault>;
  /** Faults under way in all workers, whose number is limited. */
  readonly active: SharedCount;
}

const ABORT_STATUS_MIN = 200;
const ABORT_STATUS_MAX = 599;
const NO_STATUS = 0;

export function makeFaultFilter(
  { name, options: own }: FaultFilterSettings,
  context: FilterContext,
): FilterFactory {
  const base = context.stats.defineBlock(FAULT, `${context.statPrefix}fault.`);
  context.onBlock(base);
  const compiled = new CompiledSettings((options: FaultOptions) => ({
    options,
    matches: compileHeaderMatchers(options.headers),
  }));
  const active = context.sharedCount(`faults ${context.statPrefix}`);
  const parts: FaultParts = { name, context, base, own, compiled, active };
  return { name, create: (callbacks) => new FaultFilter(parts, callbacks) };
}

class FaultFilter extends PassThroughFilter implements TimerOwner {
  readonly #parts: FaultParts;
  readonly #callbacks: FilterCallbacks;
  readonly #timer = new LoopTimer(this, 0);
  #headers: HeaderMap | undefined = undefined;
  #options: FaultOptions | undefined = undefined;
  #isActive = false;

  constructor(parts: FaultParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { name, own, compiled } = this.#parts;
    const settings = (this.#callbacks.routeConfig(name) as FaultOptions | undefined) ?? own;
    const { options, matches } = compiled.of(settings);
    if (!this.#concerns(headers, options) || matches?.(headers) === false) return 'continue';
    this.#headers = headers;
    this.#options = options;
    const delayMs = this.#delayMs(headers, options);
    if (delayMs > 0) {
      this.#begin(FAULT.index.delays_injected);
      this.#callbacks.info.responseFlags |= ResponseFlag.delayInjected;
      this.#parts.context.loop.timers.list(delayMs).arm(this.#timer);
      return 'stop';
    }
    return this.#abortIfWanted(headers, options) ? 'stop' : 'continue';
  }

  onException(): void {
    this.#callbacks.onException();
  }

  onTimer(): void {
    const headers = this.#headers;
    const options = this.#options;
    if (headers === undefined || options === undefined) return;
    if (!this.#abortIfWanted(headers, options)) this.#callbacks.continueDecoding();
  }

  override onDestroy(): void {
    this.#timer.disarm();
    if (!this.#isActive) return;
    this.#isActive = false;
    const { context, base, active } = this.#parts;
    active.add(-1);
    context.stats.subtract(base + FAULT.index.active_faults, 1);
  }

  #concerns(headers: HeaderMap, options: FaultOptions): boolean {
    const { upstreamCluster, downstreamNodes } = options;
    const { route } = this.#callbacks;
    if (upstreamCluster !== '') {
      if (route?.kind !== 'cluster' || route.clusterName !== upstreamCluster) return false;
    }
    if (downstreamNodes.length === 0) return true;
    return downstreamNodes.includes(headers.get('x-envoy-downstream-service-node') ?? '');
  }

  /** 0 for none. */
  #delayMs(headers: HeaderMap, options: FaultOptions): number {
    const { delay, delayDurationRuntime } = options;
    if (delay === undefined) return 0;
    const header = headers.get('x-envoy-fault-delay-request');
    const configured = delay.fixedMs ?? (header === undefined ? 0 : wholeNumber(header));
    const { snapshot } = this.#parts.context.runtime;
    const delayMs =
      delay.fixedMs === undefined
        ? configured
        : readInteger(snapshot, delayDurationRuntime, configured);
    if (delayMs <= 0) return 0;
    const share =
      delay.fixedMs === undefined
        ? headers.get('x-envoy-fault-delay-request-percentage')
        : undefined;
    return this.#draw(delay.percentage, share) && !this.#overflows(options) ? delayMs : 0;
  }

  #abortIfWanted(headers: HeaderMap, options: FaultOptions): boolean {
    const { abort } = options;
    if (abort === undefined) return false;
    const isByHeader = abort.httpStatus === undefined && abort.grpcStatus === undefined;
    const grpcHeader = headers.get('x-envoy-fault-abort-grpc-request');
    const grpcStatus =
      abort.grpcStatus ??
      (isByHeader && grpcHeader !== undefined ? wholeNumber(grpcHeader) : undefined);
    const status = this.#abortStatus(headers, options);
    if (status === NO_STATUS && grpcStatus === undefined) return false;
    const share = isByHeader ? headers.get('x-envoy-fault-abort-request-percentage') : undefined;
    if (!this.#draw(abort.percentage, share) || this.#overflows(options)) return false;
    this.#begin(FAULT.index.aborts_injected);
    this.#callbacks.info.responseFlags |= ResponseFlag.faultInjected;
    this.#callbacks.sendLocalReply({
      status: status === NO_STATUS ? 200 : status,
      body: abort.body ?? 'fault filter abort',
      details: 'fault_filter_abort',
      grpcStatus,
    });
    return true;
  }

  #abortStatus(headers: HeaderMap, options: FaultOptions): number {
    const { abort, abortHttpStatusRuntime } = options;
    if (abort?.httpStatus !== undefined) {
      const { snapshot } = this.#parts.context.runtime;
      const status = readInteger(snapshot, abortHttpStatusRuntime, abort.httpStatus);
      return isAbortStatus(status) ? status : abort.httpStatus;
    }
    if (abort?.grpcStatus !== undefined) return NO_STATUS;
    const status = wholeNumber(headers.get('x-envoy-fault-abort-request') ?? '');
    return isAbortStatus(status) ? status : NO_STATUS;
  }

  /** A share in a header only lowers the configured one. */
  #draw(fraction: RuntimeFraction, headerShare: string | undefined): boolean {
    const { runtime } = this.#parts.context;
    const share = headerShare === undefined ? fraction.numerator : wholeNumber(headerShare);
    const lowered = { ...fraction, numerator: Math.min(share, fraction.numerator) };
    return isEnabled(lowered, runtime, runtime.random());
  }

  #overflows(options: FaultOptions): boolean {
    const { context, base, active } = this.#parts;
    const limit = readInteger(
      context.runtime.snapshot,
      options.maxActiveFaultsRuntime,
      options.maxActiveFaults ?? Number.MAX_SAFE_INTEGER,
    );
    if (active.count() < limit) return false;
    context.stats.increment(base + FAULT.index.faults_overflow);
    return true;
  }

  #begin(counter: number): void {
    const { context, base, active } = this.#parts;
    context.stats.increment(base + counter);
    if (this.#isActive) return;
    this.#isActive = true;
    active.add(1);
    context.stats.add(base + FAULT.index.active_faults, 1);
  }
}

function isAbortStatus(status: number): boolean {
  return status >= ABORT_STATUS_MIN && status <= ABORT_STATUS_MAX;
}

function wholeNumber(text: string): number {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
}
