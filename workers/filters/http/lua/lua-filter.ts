/** Runs scripts for requests and responses. Source: envoy.filters.http.lua. */
import {
  LUA,
  type LuaFilterSettings,
  type LuaPerRoute,
  type LuaScript,
} from '../../../../shared/resources/filters/http/lua/lua.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  LocalReply,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { LoadedScript, type ScriptFunction } from './loaded-script.ts';
import { hasTooManyCalls } from './script-call.ts';
import { ScriptedSide } from './scripted-side.ts';
import type { Direction, SideParts } from './side-parts.ts';
import type { Wish } from './stream-handle.ts';

const VM_COUNT = 'lua.lua_vm_count';
/** The limit of one line of a script's log. */
const LOG_LINE_MAX = 16 * 1024;

interface LuaParts {
  readonly settings: LuaFilterSettings;
  readonly context: FilterContext;
  readonly base: number;
  readonly scripts: CompiledSettings<LuaScript, LoadedScript>;
}

export function makeLuaFilter(settings: LuaFilterSettings, context: FilterContext): FilterFactory {
  const { name, options } = settings;
  const { stats, statScope } = context;
  const prefix = `${statScope}lua.${options.statPrefix === '' ? '' : `${options.statPrefix}.`}`;
  const base = stats.defineBlock(LUA, prefix);
  context.onBlock(base);
  const scripts = new CompiledSettings((script: LuaScript): LoadedScript => {
    countMachine(context);
    const log = (level: Parameters<FilterContext['log']>[0], text: string): void =>
      context.log(level, 'lua', text.slice(0, LOG_LINE_MAX));
    return new LoadedScript(script, log, {
      stats,
      prefix,
      onRelease: (act) => context.onRelease(act),
    });
  });
  for (const each of [options.script, ...options.scripts.values()])
    if (each !== undefined) scripts.of(each);
  const parts: LuaParts = { settings, context, base, scripts };
  return { name, create: (callbacks) => new LuaFilter(parts, callbacks) };
}

/** Envoy's main thread has every script too. */
function countMachine(context: FilterContext): void {
  const { stats } = context;
  const gauge = stats.defineGauge(VM_COUNT);
  const count = context.isFirstWorker ? 2 : 1;
  stats.add(gauge, count);
  context.onRelease(() => {
    stats.subtract(gauge, count);
    stats.releaseNamed(VM_COUNT);
  });
}

class LuaFilter extends PassThroughFilter {
  readonly #parts: LuaParts;
  readonly #callbacks: FilterCallbacks;
  #request: ScriptedSide | undefined = undefined;
  #response: ScriptedSide | undefined = undefined;
  #hasResponse = false;
  #drains = false;

  constructor(parts: LuaParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const side = this.#begin('envoy_on_request', headers);
    if (side === undefined) return 'continue';
    this.#request = side.side;
    return side.side.start(side.callee, endStream);
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    return this.#request?.onData(data, endStream) ?? 'continue';
  }

  override decodeTrailers(trailers: HeaderMap): TrailersStatus {
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
    const side = this.#begin('envoy_on_response', headers);
    this.#response = side?.side;
    const status = side?.side.start(side.callee, endStream) ?? 'continue';
    const { protocol } = this.#callbacks.info;
    if (this.#drains && (protocol === 'HTTP/1.1' || protocol === 'HTTP/1.0'))
      headers.set('connection', 'close');
    return status;
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    return this.#response?.onData(data, endStream) ?? 'continue';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    return this.#response?.onTrailers(trailers) ?? 'continue';
  }

  override onDestroy(): void {
    this.#request?.destroy();
    this.#response?.destroy();
  }

  #begin(
    name: ScriptFunction,
    headers: HeaderMap,
  ): { side: ScriptedSide; callee: ReturnType<LoadedScript['functionOf']> } | undefined {
    const { settings, context, base, scripts } = this.#parts;
    const callbacks = this.#callbacks;
    const ofRoute = callbacks.routeConfig(settings.name) as LuaPerRoute | undefined;
    const chosen = scriptOf(settings, ofRoute);
    if (chosen === undefined) return undefined;
    const script = scripts.of(chosen);
    const callee = script.functionOf(name);
    if (callee === undefined) return undefined;
    const { stats } = context;
    stats.increment(base + LUA.index.executions);
    const parts: SideParts = {
      script,
      callbacks,
      context,
      filterName: settings.name,
      filterContext: ofRoute?.filterContext ?? settings.options.filterContext,
      countError: () => stats.increment(base + LUA.index.errors),
      log: (text) => context.log('error', 'lua', `script log: ${text.slice(0, LOG_LINE_MAX)}`),
      hasCluster: (cluster) => context.clusterHealth(cluster) !== undefined,
      hasTooManyCalls: () => hasTooManyCalls(script.machine.state),
      wallUs: () => context.loop.clock.wallMs * 1000,
      drain: () => {
        this.#drains = true;
      },
    };
    const direction =
      name === 'envoy_on_request' ? this.#requestDirection() : this.#responseDirection();
    return { side: new ScriptedSide(parts, direction, headers), callee };
  }

  #requestDirection(): Direction {
    const callbacks = this.#callbacks;
    return {
      isRequest: true,
      continueHeaders: () => callbacks.continueDecoding(),
      inject: (data, isEnd) => callbacks.injectRequestData(data, isEnd),
      injectTrailers: (trailers) => callbacks.injectRequestTrailers(trailers),
      pause: (isPaused) => callbacks.pauseRequest(isPaused),
      refuseTooLarge: () => {
        this.#parts.context.countRequestTooLarge();
        callbacks.sendLocalReply(REQUEST_TOO_LARGE);
      },
      respond: (wish) => callbacks.sendLocalReply(answerOf(wish)),
    };
  }

  #responseDirection(): Direction {
    const callbacks = this.#callbacks;
    return {
      isRequest: false,
      continueHeaders: () => callbacks.continueEncoding(),
      inject: (data, isEnd) => callbacks.injectResponseData(data, isEnd),
      injectTrailers: (trailers) => callbacks.injectResponseTrailers(trailers),
      pause: (isPaused) => callbacks.pauseResponse(isPaused),
      refuseTooLarge: () => callbacks.sendLocalReply(RESPONSE_TOO_LARGE),
      respond: () => undefined,
    };
  }
}

function scriptOf(
  { options }: LuaFilterSettings,
  ofRoute: LuaPerRoute | undefined,
): LuaScript | undefined {
  if (ofRoute === undefined) return options.script;
  if (ofRoute.isDisabled) return undefined;
  if (ofRoute.scriptName !== undefined) return options.scripts.get(ofRoute.scriptName);
  return ofRoute.script ?? options.script;
}

function answerOf({ headers, status, body }: Extract<Wish, { kind: 'respond' }>): LocalReply {
  return {
    status,
    body,
    details: 'lua_response',
    modifyHeaders: (answer) => {
      for (const [name, values] of headers) {
        if (name.startsWith(':') || name === 'content-length') continue;
        answer.remove(name);
        for (const value of values) answer.add(name, value);
      }
    },
  };
}

const REQUEST_TOO_LARGE: LocalReply = {
  status: 413,
  body: 'Payload Too Large',
  details: 'request_payload_too_large',
  closesConnection: true,
};
const RESPONSE_TOO_LARGE: LocalReply = {
  status: 500,
  body: 'Internal Server Error',
  details: 'response_payload_too_large',
};
