/**
 * Where a resolver stands: the place in the configuration, the sink for problems, and what is known
 * of the server that the configuration is for. Resolvers report here and go on with any value; a
 * resource with an error is never used.
 */
import type { FilterSkips } from '../resolved/filter-skips.ts';
import type { RouteConfiguration } from '../../shared/api/generated/envoy/config/route/v3/route.ts';
import type { Tracing_Http } from '../../shared/api/generated/envoy/config/trace/v3/http_tracer.ts';
import type { Secret } from '../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/secret.ts';
import type {
  ClusterSpecifier,
  RouteConfigurationResource,
} from '../../shared/resources/routes/route.ts';
import type { NamedSecret } from '../resolved/named-secret.ts';
import type {
  InlineScopes,
  NamedFilter,
  NamedRoutes,
  NamedScopes,
} from '../resolved/resolved-bootstrap.ts';
import {
  at,
  type Place,
  type Problem,
  type ProblemSink,
  type SourcePosition,
} from '../config/problem.ts';

export interface ResolveContext {
  readonly problems: ProblemSink;
  /** Largest program of a regular expression, in RE2's measure. */
  readonly maxRegexProgramSize: number;
  /** The bootstrap's `tracing`, for connection managers without a provider. */
  readonly defaultTracer?: Tracing_Http;
  /** Whether a tracer may send to a cluster of that name; absent: that is not looked at. */
  readonly isTracerCluster?: (name: string) => boolean;
  /** The names of clusters that stand in the bootstrap, for hints. */
  readonly clusterNames?: readonly string[];
  /** The node's own, which tracers name themselves by. */
  readonly nodeName?: { readonly id: string; readonly cluster: string };
  /** Static secrets of the bootstrap by name. */
  readonly secrets?: ReadonlyMap<string, Secret>;
  /** Told of route configurations that stand inside a connection manager. */
  readonly onInlineRoutes?: (
    message: RouteConfiguration,
    resolved: RouteConfigurationResource,
  ) => void;
  /** `category/name` of what `--disable-extensions` switches off. */
  readonly disabledExtensions?: ReadonlySet<string>;
  /** Which filters that there are not may be left out; absent: none. */
  readonly filterSkips?: FilterSkips;
  /** Whether the bootstrap allows listeners without a socket; undefined: it is not known here. */
  readonly allowsInternalListeners?: boolean;
  /** Files of certificates and keys are not read: the machine that validates need not have them. */
  readonly skipSecrets?: boolean;
  /** The plugins of the route configuration, by name; undefined: one that was refused. */
  readonly clusterPlugins?: ReadonlyMap<string, ClusterSpecifier | undefined>;
  /** Substitution formats may read bodies. */
  readonly formatsBodies?: boolean;
  /** No server is to start. */
  readonly isForValidation?: boolean;
  /** Told of routes that a connection manager names instead of holding them. */
  readonly onNamedRoutes?: (routes: NamedRoutes) => void;
  /** Told of scopes that stand inside a connection manager, and of those that it names. */
  readonly onInlineScopes?: (scopes: InlineScopes) => void;
  readonly onNamedScopes?: (scopes: NamedScopes) => void;
  /** Told of filter settings that a connection manager or a cluster names instead of holding them. */
  readonly onNamedFilter?: (filter: NamedFilter) => void;
  /** Told of secrets that a TLS context names instead of holding them. */
  readonly onNamedSecret?: (secret: NamedSecret) => void;
}

/** Short names of what was broken, for output that programs read. */
export type Rule =
  /** Known to the API, not to this build. */
  | 'unsupported'
  /** A filter that `--unsupported-filters` leaves out. */
  | 'skipped'
  /** An extension without `typed_config`, or of a type that does not fit its place. */
  | 'extension'
  | 'duplicate'
  /** A name that nothing has. */
  | 'reference'
  | 'regex'
  | 'substitution_format'
  | 'path_template'
  | 'address'
  | 'file'
  /** Fields that contradict each other, or that are missing together. */
  | 'conflict'
  | 'no_effect';

/** Where somebody finds what could stand in place of what is refused. */
export const SEE_FEATURES = 'docs/features.md lists what is served';

export class Scope {
  readonly context: ResolveContext;
  readonly place: Place | undefined;

  constructor(context: ResolveContext, place?: Place) {
    this.context = context;
    this.place = place;
  }

  at(...keys: readonly (string | number)[]): Scope {
    let { place } = this;
    for (const key of keys) place = at(place, key);
    return new Scope(this.context, place);
  }

  error(rule: Rule, message: string, suggestion?: string): void {
    this.#report('error', rule, message, suggestion);
  }

  /** The same, of another text than the configuration's. */
  errorIn(position: SourcePosition, rule: Rule, message: string): void {
    const { place } = this;
    this.context.problems.report({ severity: 'error', place, message, rule, position });
  }

  /** For what is accepted although it does nothing, or not what its name says. */
  warning(rule: Rule, message: string, suggestion?: string): void {
    this.#report('warning', rule, message, suggestion);
  }

  /** Refuses what the API knows and this build does not; `what` begins the message. */
  unsupported(what: string, suggestion = SEE_FEATURES): void {
    this.error('unsupported', `${what} not supported yet`, suggestion);
  }

  #report(
    severity: Problem['severity'],
    rule: Rule,
    message: string,
    suggestion: string | undefined,
  ): void {
    const hint = suggestion === undefined ? {} : { suggestion };
    this.context.problems.report({ severity, place: this.place, message, rule, ...hint });
  }
}
