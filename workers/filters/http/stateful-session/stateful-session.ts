/**
 * Keeps a client at the host that answered it first: the host's address travels in a cookie or a
 * header. Source: envoy.filters.http.stateful_session.
 */
import type {
  SessionState,
  StatefulSessionPerRoute,
  StatefulSessionFilterSettings,
} from '../../../../shared/resources/filters/http/stateful-session.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { SESSION_STATES, type SessionCarrier } from './session-states.ts';

export function makeStatefulSessionFilter(
  { name, options: own }: StatefulSessionFilterSettings,
  { loop }: FilterContext,
): FilterFactory {
  const wallSeconds = (): number => Math.floor(loop.clock.wallMs / 1000);
  const carriers = new CompiledSettings((state: SessionState) =>
    SESSION_STATES.make(state, wallSeconds),
  );
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as StatefulSessionPerRoute | undefined;
      const options = ofRoute === undefined ? own : ofRoute.session;
      return options?.state === undefined
        ? new PassThroughFilter()
        : new StatefulSessionFilter(carriers.of(options.state), options.strict, callbacks);
    },
  };
}

class StatefulSessionFilter extends PassThroughFilter {
  readonly #carrier: SessionCarrier;
  readonly #isStrict: boolean;
  readonly #callbacks: FilterCallbacks;
  /** Whether the request belongs to a session. */
  #isMeant = true;
  #address: string | undefined = undefined;

  constructor(carrier: SessionCarrier, isStrict: boolean, callbacks: FilterCallbacks) {
    super();
    this.#carrier = carrier;
    this.#isStrict = isStrict;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    this.#isMeant = this.#carrier.isFor(headers.path);
    if (!this.#isMeant) return 'continue';
    const address = this.#carrier.read(headers);
    if (address === undefined) return 'continue';
    this.#address = address;
    this.#callbacks.info.overrideHost = { address, isStrict: this.#isStrict };
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    const host = this.#callbacks.info.upstreamHost?.address;
    if (!this.#isMeant || host === undefined || host === this.#address) return 'continue';
    this.#carrier.write(headers, host);
    return 'continue';
  }
}
