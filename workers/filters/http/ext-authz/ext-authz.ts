/**
 * Asks a service, by HTTP or gRPC, whether a request may pass, and makes the changes that it wants.
 * Source: envoy.filters.http.ext_authz.
 */
import type {
  CheckedBody,
  ExtAuthzFilterSettings,
  ExtAuthzOptions,
  ExtAuthzPerRoute,
  AuthzService,
} from '../../../../shared/resources/filters/http/ext-authz.ts';
import { readBoolean } from '../../../../shared/runtime/read-runtime.ts';
import { dictionary, type Dictionary, joined } from '../../../../shared/text/dictionary.ts';
import { isEnabled } from '../../../loop/runtime.ts';
import { compileMetadataMatcher, type MetadataPredicate } from '../../../matching/value-matcher.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { WaitingRequest } from '../../common/waiting-request.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { applyToResponse } from './apply-changes.ts';
import { AuthzStats } from './authz-stats.ts';
import {
  type Check,
  type Checker,
  CHECK_FAILED,
  type CheckOutcome,
  type CheckOwner,
  NO_RESPONSE_EDITS,
  type ResponseEdits,
} from './check.ts';
import { makeGrpcChecker } from './grpc-checker.ts';
import { makeHttpChecker } from './http-checker.ts';
import { refuse, Verdicts } from './verdicts.ts';

const NO_EXTENSIONS: Dictionary<string> = dictionary<string>();

/** A filter without a service: every check fails. */
const NO_SERVICE: Checker = {
  check: (_request, owner) => {
    owner.onOutcome(CHECK_FAILED);
    return { cancel: () => undefined };
  },
};

interface AuthzParts {
  readonly name: string;
  readonly own: ExtAuthzOptions;
  readonly context: FilterContext;
  readonly stats: AuthzStats;
  readonly checker: Checker;
  /** The checkers of services that routes name. */
  readonly checkers: CompiledSettings<AuthzService, Checker>;
  readonly verdicts: Verdicts;
  readonly isEnabledBy: MetadataPredicate | undefined;
}

export function makeExtAuthzFilter(
  { name, options: own }: ExtAuthzFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { service, enabledMetadata } = own;
  const stats = new AuthzStats(own, context);
  const make = (each: AuthzService): Checker => makeChecker(each, own, context);
  const parts: AuthzParts = {
    name,
    own,
    context,
    stats,
    checker: service === undefined ? NO_SERVICE : make(service),
    checkers: new CompiledSettings(make),
    verdicts: new Verdicts(own, stats, context.loop.clock),
    isEnabledBy: enabledMetadata && compileMetadataMatcher(enabledMetadata),
  };
  return { name, create: (callbacks) => new ExtAuthzFilter(parts, callbacks) };
}

function makeChecker(service: AuthzService, own: ExtAuthzOptions, context: FilterContext): Checker {
  if (service.kind === 'http') return makeHttpChecker(service, own, context.services);
  const checker = makeGrpcChecker(service, own, context);
  context.onRelease(() => checker.release());
  return checker;
}

type Phase = 'passing' | 'buffering' | 'asking' | 'over';

class ExtAuthzFilter extends PassThroughFilter implements CheckOwner {
  readonly #parts: AuthzParts;
  readonly #callbacks: FilterCallbacks;
  #phase: Phase = 'passing';
  #headers: HeaderMap | undefined = undefined;
  #body: CheckedBody | undefined = undefined;
  #waiting: WaitingRequest | undefined = undefined;
  #check: Check | undefined = undefined;
  /** The outcome comes while the check is still being sent. */
  #isSending = false;
  #askedMs = 0;
  #response: ResponseEdits = NO_RESPONSE_EDITS;

  constructor(parts: AuthzParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { own, name, context, stats } = this.#parts;
    const callbacks = this.#callbacks;
    const ofRoute = callbacks.routeConfig(name) as ExtAuthzPerRoute | undefined;
    if (callbacks.route === undefined || ofRoute?.isDisabled === true) return 'continue';
    if (!this.#isEnabled()) {
      stats.count('disabled');
      const { runtimeKey, byDefault } = own.denyAtDisable;
      if (!readBoolean(context.runtime.snapshot, runtimeKey, byDefault)) return 'continue';
      this.#phase = 'over';
      refuse(callbacks, own.statusOnError, 'ext_authz_error');
      return 'stop';
    }
    this.#headers = headers;
    this.#waiting = new WaitingRequest(callbacks, context.loop.held, context.bufferLimitBytes);
    this.#body = endStream || isUpgrade(headers) ? undefined : bodyWanted(own, ofRoute);
    if (this.#body === undefined) return this.#ask() ? 'stop' : 'continue';
    this.#phase = 'buffering';
    return 'stop';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    const waiting = this.#waiting;
    if (waiting === undefined || this.#phase === 'passing') return 'continue';
    if (this.#phase === 'over') return 'stop';
    if (this.#phase === 'asking') {
      waiting.take(data, endStream);
      return 'taken';
    }
    const { maxBytes = 0, allowsPartial = false } = this.#body ?? {};
    const bytes = waiting.bytes + data.length;
    const limit = allowsPartial ? this.#parts.context.bufferLimitBytes : maxBytes;
    const isFull = allowsPartial && bytes >= maxBytes;
    if (!isFull && bytes > limit) {
      this.#refuseTooLarge();
      return 'stop';
    }
    waiting.take(data, endStream, true);
    if (endStream || isFull) this.#askForBuffered();
    return 'taken';
  }

  override decodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#phase === 'passing' || this.#phase === 'over') return 'continue';
    this.#waiting?.takeTrailers(trailers);
    if (this.#phase === 'buffering') this.#askForBuffered();
    return 'taken';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    if (this.#response !== NO_RESPONSE_EDITS) applyToResponse(headers, this.#response);
    return 'continue';
  }

  override onDestroy(): void {
    this.#phase = 'over';
    this.#check?.cancel();
    this.#waiting?.drop();
  }

  onException(): void {
    this.#callbacks.onException();
  }

  onOutcome(outcome: CheckOutcome): void {
    if (this.#phase !== 'asking') return;
    this.#phase = 'over';
    const headers = this.#headers;
    const response =
      headers && this.#parts.verdicts.carryOut(outcome, headers, this.#callbacks, this.#askedMs);
    if (response === undefined) {
      this.#waiting?.drop();
      return;
    }
    this.#response = response;
    this.#phase = 'passing';
    if (!this.#isSending) this.#waiting?.release();
  }

  #isEnabled(): boolean {
    const { own, context, isEnabledBy } = this.#parts;
    const { runtime } = context;
    const { enabled } = own;
    if (enabled !== undefined && !isEnabled(enabled, runtime, runtime.random())) return false;
    return isEnabledBy === undefined || isEnabledBy(this.#callbacks.info.dynamicMetadata);
  }

  /** Whether the request waits, or is answered; false where the check was over at once. */
  #ask(): boolean {
    const { checker, checkers, name, context } = this.#parts;
    const headers = this.#headers;
    if (headers === undefined) return false;
    const { info, route } = this.#callbacks;
    const levels = this.#callbacks.routeConfigs(name) as readonly ExtAuthzPerRoute[];
    const service = levels.find((level) => level.service !== undefined)?.service;
    this.#phase = 'asking';
    this.#isSending = true;
    this.#askedMs = context.loop.clock.ms;
    const request = {
      headers,
      info,
      route,
      body: this.#bodyAsked(),
      contextExtensions: extensionsOf(levels),
    };
    this.#check = (service === undefined ? checker : checkers.of(service)).check(request, this);
    this.#isSending = false;
    return this.#hasToWait();
  }

  /** Apart from where it is set, since a check may end while it is being sent. */
  #hasToWait(): boolean {
    return this.#phase !== 'passing';
  }

  /** The body came to its end, or to what the check may have of it: within an event of its own. */
  #askForBuffered(): void {
    if (!this.#ask()) this.#waiting?.release();
  }

  #bodyAsked(): { bytes: Buffer; isPartial: boolean; asBytes: boolean } | undefined {
    const { maxBytes = 0, asBytes = false } = this.#body ?? {};
    const waiting = this.#waiting;
    if (waiting === undefined || waiting.bytes === 0) return undefined;
    const bytes = waiting.copy(maxBytes);
    return { bytes, isPartial: bytes.length !== waiting.bytes, asBytes };
  }

  #refuseTooLarge(): void {
    this.#phase = 'over';
    this.#waiting?.drop();
    this.#parts.context.countRequestTooLarge();
    this.#callbacks.sendLocalReply({
      status: 413,
      body: 'Payload Too Large',
      details: 'request_payload_too_large',
      closesConnection: true,
    });
  }
}

function bodyWanted(
  own: ExtAuthzOptions,
  ofRoute: ExtAuthzPerRoute | undefined,
): CheckedBody | undefined {
  return ofRoute?.disablesBody === true ? undefined : (ofRoute?.body ?? own.body);
}

function isUpgrade(headers: HeaderMap): boolean {
  return headers.protocol !== '' || (headers.has('upgrade') && headers.has('connection'));
}

/** The extensions of all levels; the most specific one counts where several have a key. */
function extensionsOf(levels: readonly ExtAuthzPerRoute[]): Dictionary<string> {
  const [only] = levels;
  if (only === undefined) return NO_EXTENSIONS;
  if (levels.length === 1) return only.contextExtensions;
  return levels.reduceRight(
    (all, { contextExtensions }) => joined(all, contextExtensions),
    NO_EXTENSIONS,
  );
}
