/** Runs the operator's own modules for requests and responses. Source: sluice.filters.http.script. */
import {
  SCRIPT,
  type ScriptFilterSettings,
  type ScriptPerRoute,
} from '../../../../shared/resources/filters/http/script/script.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  LocalReply,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { ResolvedRoute } from '../../../stream/route.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { CallBudget } from './script-fetch.ts';
import { FaultLog, type ScriptInstance, type ScriptParts } from './script-instance.ts';
import { ScriptSide } from './script-side.ts';
import { ScriptStats } from './script-stats.ts';
import { ScriptStream } from './script-stream.ts';
import { ScriptUser } from './script-user.ts';
import { REQUEST_WAY, RESPONSE_WAY } from './script-ways.ts';

export function makeScriptFilter(
  settings: ScriptFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { name, options } = settings;
  const { stats, statScope, scripts } = context;
  const prefix = `${statScope}script.${options.statPrefix}.`;
  const base = stats.defineBlock(SCRIPT, prefix);
  context.onBlock(base);
  const parts: ScriptParts = {
    settings,
    context,
    base,
    budget: new CallBudget(),
    marks: scripts.marks,
    log: new FaultLog(context, name),
  };
  const own = new ScriptStats(stats, prefix);
  const users: ScriptUser[] = [];
  const userOf = (text: string): ScriptUser => {
    const user = new ScriptUser(parts, text, own);
    users.push(user);
    return user;
  };
  const user = userOf(options.settings);
  const ofRoutes = new CompiledSettings(({ settings: text }: ScriptPerRoute) =>
    text === undefined ? user : userOf(text),
  );
  context.onRelease(() => {
    for (const each of users) each.release();
    own.release();
  });
  const factory: FilterFactory = {
    name,
    create: (callbacks) => new ScriptFilter(parts, callbacks, { user, ofRoutes }),
    filtersFor: (route) => {
      const { instance } = user;
      const isEmpty = instance?.isEmpty === true && !hasOwnSettings(route, name);
      if (!isEmpty) return itself;
      instance.count('requests');
      return NO_FILTERS;
    },
  };
  const itself = [factory];
  return factory;
}

/** What a module without functions needs. */
const NO_FILTERS: readonly FilterFactory[] = [];

function hasOwnSettings(route: ResolvedRoute | undefined, name: string): boolean {
  return route !== undefined && route.filterSettings.perFilterConfig.has(name);
}

interface Users {
  readonly user: ScriptUser;
  readonly ofRoutes: CompiledSettings<ScriptPerRoute, ScriptUser>;
}

class ScriptFilter extends PassThroughFilter {
  readonly #parts: ScriptParts;
  readonly #callbacks: FilterCallbacks;
  readonly #users: Users;
  #instance: ScriptInstance | undefined = undefined;
  #stream: ScriptStream | undefined = undefined;
  #request: ScriptSide | undefined = undefined;
  #response: ScriptSide | undefined = undefined;
  #hasResponse = false;
  /** The module is not asked any more. */
  #isLeftOut = false;
  #endWait: (() => void) | undefined = undefined;
  #isWaiting = false;

  constructor(parts: ScriptParts, callbacks: FilterCallbacks, users: Users) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
    this.#users = users;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { settings } = this.#parts;
    const ofRoute = this.#callbacks.routeConfig(settings.name) as ScriptPerRoute | undefined;
    if (ofRoute?.isDisabled === true) {
      this.#isLeftOut = true;
      return 'continue';
    }
    const user = ofRoute === undefined ? this.#users.user : this.#users.ofRoutes.of(ofRoute);
    const { instance } = user;
    if (instance !== undefined) return this.#begin(instance, headers, endStream);
    const goOn = (): void => this.#afterLoading(user, headers, endStream);
    if (!user.wait(goOn)) return this.#goWithout();
    this.#isWaiting = true;
    this.#endWait = () => user.callOff(goOn);
    return 'stop';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#isWaiting) return 'stop_and_buffer';
    return this.#request?.onData(data, endStream) ?? 'continue';
  }

  override decodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#isWaiting) return 'stop';
    return this.#request?.onTrailers(trailers) ?? 'continue';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    // An answer of the proxy's own came in place of a response that was held.
    if (this.#hasResponse) {
      this.#response?.destroy();
      this.#response = undefined;
      return 'continue';
    }
    this.#hasResponse = true;
    const stream = this.#stream;
    const instance = this.#instance;
    if (stream === undefined || instance === undefined || this.#isLeftOut) return 'continue';
    if (this.#request?.hasFailed === true) return 'continue';
    stream.takeResponse(headers);
    if (instance.response.isEmpty) return 'continue';
    const parts = { callbacks: this.#callbacks, stream, map: headers };
    this.#response = new ScriptSide(instance, RESPONSE_WAY, parts);
    return this.#response.start(stream.takenResponse, endStream);
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    return this.#response?.onData(data, endStream) ?? 'continue';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    return this.#response?.onTrailers(trailers) ?? 'continue';
  }

  override onDestroy(): void {
    this.#endWait?.();
    this.#request?.destroy();
    this.#response?.destroy();
    const instance = this.#instance;
    const stream = this.#stream;
    if (stream === undefined || instance === undefined) return;
    if (instance.handlers.onEnd !== undefined && !this.#isLeftOut) this.#tellEnd(instance, stream);
    stream.end();
  }

  #begin(instance: ScriptInstance, headers: HeaderMap, endStream: boolean): HeadersStatus {
    instance.count('requests');
    this.#instance = instance;
    if (instance.isEmpty) return 'continue';
    const stream = new ScriptStream(instance, this.#callbacks, headers);
    this.#stream = stream;
    try {
      stream.state = instance.makeState?.();
    } catch (error) {
      instance.noteFault(error);
      return this.#goWithout();
    }
    if (instance.request.isEmpty) return 'continue';
    const parts = { callbacks: this.#callbacks, stream, map: headers };
    this.#request = new ScriptSide(instance, REQUEST_WAY, parts);
    return this.#request.start(stream.request, endStream);
  }

  #afterLoading(user: ScriptUser, headers: HeaderMap, endStream: boolean): void {
    this.#isWaiting = false;
    this.#endWait = undefined;
    const { loop } = this.#parts.context;
    loop.run(this.#callbacks, () => {
      const { instance } = user;
      const status =
        instance === undefined ? this.#goWithout() : this.#begin(instance, headers, endStream);
      if (status === 'continue') this.#callbacks.continueDecoding();
    });
  }

  /** There is no module that could be asked. */
  #goWithout(): HeadersStatus {
    const { context, base, settings } = this.#parts;
    const { failsOpen } = settings.options;
    this.#isLeftOut = true;
    const stat = failsOpen ? SCRIPT.index.failed_open : SCRIPT.index.failed_closed;
    context.stats.increment(base + stat);
    if (failsOpen) return 'continue';
    this.#callbacks.sendLocalReply(NOT_LOADED);
    return 'stop';
  }

  #tellEnd(instance: ScriptInstance, stream: ScriptStream): void {
    const { info } = this.#callbacks;
    const end = {
      status: info.responseCode,
      bytesReceived: info.bytesReceived,
      bytesSent: info.bytesSent,
      durationMs: this.#parts.context.loop.clock.ms - info.startMs,
      details: info.responseCodeDetails,
    };
    instance.enter();
    try {
      instance.handlers.onEnd?.(stream, end);
    } catch (error) {
      instance.noteFault(error);
    }
    instance.leave();
  }
}

const NOT_LOADED: LocalReply = {
  status: 500,
  body: 'Internal Server Error',
  details: 'script_not_loaded',
};
