/**
 * Keeps a client at the host that answered it first: the host's address travels in a cookie or a
 * header. Source: envoy.filters.http.stateful_session.
 */
import {
  STATEFUL_SESSION,
  type SessionState,
  type StatefulSessionOptions,
  type StatefulSessionPerRoute,
  type StatefulSessionFilterSettings,
} from '../../../../shared/resources/filters/http/stateful-session.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { ResponseFlag } from '../../../stream/response-flags.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { SESSION_STATES, type SessionCarrier } from './session-states.ts';

export function makeStatefulSessionFilter(
  { name, options: own }: StatefulSessionFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { loop } = context;
  const ownCount = countBy(own, context.statScope, context);
  const counts = new CompiledSettings((options: StatefulSessionOptions) =>
    countBy(options, '', context),
  );
  const wallSeconds = (): number => Math.floor(loop.clock.wallMs / 1000);
  const carriers = new CompiledSettings((state: SessionState) =>
    SESSION_STATES.make(state, wallSeconds),
  );
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as StatefulSessionPerRoute | undefined;
      const options = ofRoute === undefined ? own : ofRoute.session;
      if (options?.state === undefined) return new PassThroughFilter();
      const count = options === own ? ownCount : counts.of(options);
      const carrier = carriers.of(options.state);
      return new StatefulSessionFilter({ carrier, options, count, callbacks });
    },
  };
}

type Count = (stat: keyof typeof STATEFUL_SESSION.index) => void;

/** Those of routes are counted apart from the connection manager, as in Envoy. */
function countBy(
  { statScope }: StatefulSessionOptions,
  prefix: string,
  context: FilterContext,
): Count {
  if (statScope === undefined) return () => undefined;
  const { stats } = context;
  const base = stats.defineBlock(STATEFUL_SESSION, `${prefix}${statScope}`);
  context.onBlock(base);
  return (stat) => stats.increment(base + STATEFUL_SESSION.index[stat]);
}

interface SessionParts {
  readonly carrier: SessionCarrier;
  readonly options: StatefulSessionOptions;
  readonly count: Count;
  readonly callbacks: FilterCallbacks;
}

class StatefulSessionFilter extends PassThroughFilter {
  readonly #parts: SessionParts;
  /** Whether the request belongs to a session. */
  #isMeant = true;
  #address: string | undefined = undefined;

  constructor(parts: SessionParts) {
    super();
    this.#parts = parts;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { carrier, options, callbacks } = this.#parts;
    this.#isMeant = carrier.isFor(headers.path);
    if (!this.#isMeant) return 'continue';
    const address = carrier.read(headers);
    if (address === undefined) return 'continue';
    this.#address = address;
    const { strict: isStrict, strictStatus } = options;
    callbacks.info.overrideHost = {
      address,
      isStrict,
      ...(isStrict && strictStatus !== undefined && { strictStatus }),
    };
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    const { carrier, options, count, callbacks } = this.#parts;
    const { upstreamHost, responseFlags } = callbacks.info;
    if (!this.#isMeant) {
      count('no_session');
    } else if (upstreamHost === undefined) {
      const isGone = (responseFlags & ResponseFlag.noHealthyUpstream) !== 0;
      if (!options.strict || this.#address === undefined || !isGone) return 'continue';
      count('failed_closed');
    } else if (upstreamHost.address === this.#address) {
      count('routed');
    } else {
      if (!options.strict) count('failed_open');
      carrier.write(headers, upstreamHost.address);
    }
    return 'continue';
  }
}
