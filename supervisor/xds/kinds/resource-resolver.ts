/**
 * Resolves single resources that came from a control plane, with the same resolvers and checks as
 * those of the bootstrap. Each call gives the resolved form or the first mistake as text.
 */
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { ClusterLoadAssignment } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import type { Listener } from '../../../shared/api/generated/envoy/config/listener/v3/listener.ts';
import type {
  RouteConfiguration,
  Vhds,
} from '../../../shared/api/generated/envoy/config/route/v3/route.ts';
import type { ScopedRouteConfiguration } from '../../../shared/api/generated/envoy/config/route/v3/scoped_route.ts';
import type { Secret } from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/secret.ts';
import type { HttpFilter as HttpFilterMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { ClusterHostsResource } from '../../../shared/resources/clusters/cluster.ts';
import type { HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import type { RouteConfigurationResource } from '../../../shared/resources/routes/route.ts';
import type { TlsSecret } from '../../../shared/resources/tls.ts';
import { atOnce, type Steps } from '../../loop/loop-turns.ts';
import type { Place, Problem } from '../../config/problem.ts';
import {
  checkSources,
  sourcesOfCluster,
  sourcesOfListener,
} from '../../resources/bootstrap/dynamic-resources.ts';
import { readGenericSecret } from '../../resources/generic-secret.ts';
import {
  resolveClusterDefaults,
  staticSecrets,
} from '../../resources/bootstrap/static-resources.ts';
import { resolveCluster, type ClusterDefaults } from '../../resources/clusters/cluster.ts';
import {
  type ResolvedHosts,
  loadAssignmentInSteps,
  resolveLoadAssignment,
} from '../../resources/clusters/load-assignment.ts';
import { resolveUpstreamSettings } from '../../resources/filters/upstream-filters.ts';
import { resolveFilterSettings } from '../../resources/http/http-filter-chain.ts';
import { resolveListener } from '../../resources/listeners/listener.ts';
import { NetworkFilterResolver } from '../../resources/listeners/network-filters.ts';
import type { ResolvedCluster, ResolvedListener } from '../../resolved/resolved-bootstrap.ts';
import type { NamedSecret } from '../../resolved/named-secret.ts';
import { routeConfigurationInSteps } from '../../resources/routes/route-configuration.ts';
import { resolveConfigSource } from '../../resources/config-source.ts';
import { type ConfigSource } from '../../resolved/config-source.ts';
import { Scope } from '../../resources/scope.ts';
import { resolveCertificate } from '../../resources/tls/certificates.ts';
import { resolveTicketKeys } from '../../resources/tls/ticket-keys.ts';
import { resolveValidation } from '../../resources/tls/validation.ts';
import { checkSecret } from '../../resources/tls/secret-references.ts';
import { describeProblem, type ResolverOptions } from './resolver-options.ts';
import type { DiscoveryKind } from '../../resolved/resource-kinds.ts';

export type Resolution<Resolved> =
  | {
      readonly resolved: Resolved;
      /** Secrets that it names, and that nothing around it asks for. */
      readonly secrets: readonly NamedSecret[];
      readonly error?: undefined;
    }
  | { readonly resolved?: undefined; readonly error: string };

/** What one resource is resolved with. */
interface Run {
  readonly scope: Scope;
  readonly problems: readonly Problem[];
  readonly secrets: readonly NamedSecret[];
}

/** Envoy's word for a secret that holds something else. */
const NO_CERTIFICATE = 'Failed to load incomplete private key from path: ';

export class ResourceResolver {
  /** What reports the problems of each kind. */
  readonly #checks: {
    readonly [Kind in DiscoveryKind]: (message: JsonObject, scope: Scope) => void;
  } = {
    cluster: (message, scope) =>
      resolveCluster(message as unknown as Cluster, this.#defaults, scope),
    listener: (message, scope) =>
      resolveListener(message as unknown as Listener, this.#filters, scope),
    route_configuration: (message, scope) => atOnce(this.#resolveRoutes(message, scope)),
    endpoints: (message, scope) => {
      const assignment = message as unknown as ClusterLoadAssignment;
      resolveLoadAssignment(assignment.cluster_name ?? '', assignment, scope);
    },
    secret: (message, scope) => checkSecret(message as unknown as Secret, scope),
    extension: (message, scope) =>
      resolveFilterSettings(message as unknown as HttpFilterMessage, scope),
    scoped_routes: (message, scope) => {
      const { route_configuration: routes } = message as unknown as ScopedRouteConfiguration;
      if (routes === undefined) return;
      atOnce(this.#resolveRoutes(routes as unknown as JsonObject, scope));
    },
    // They are checked with the route configuration that they complete.
    virtual_host: () => undefined,
    // Its values are checked by their holder.
    runtime: () => undefined,
  };
  readonly #options: ResolverOptions;
  readonly #defaults: ClusterDefaults;
  readonly #filters: NetworkFilterResolver;
  /** Of the bootstrap, which every resource may name. */
  readonly #secrets: ReadonlyMap<string, Secret>;
  /** Whether there is a stream that sources may share. */
  readonly #hasAggregated: boolean;

  constructor(options: ResolverOptions) {
    this.#options = options;
    this.#secrets = staticSecrets(options.bootstrap);
    this.#defaults = resolveClusterDefaults(options.bootstrap, this.#scope([]));
    this.#hasAggregated = options.bootstrap.dynamic_resources?.ads_config !== undefined;
    this.#filters = new NetworkFilterResolver((name) => options.isKnownCluster(name));
  }

  cluster(message: JsonObject): Resolution<ResolvedCluster> {
    return this.#run((scope) => {
      const resolved = resolveCluster(message as unknown as Cluster, this.#defaults, scope);
      if (resolved !== undefined) this.#checkSources(sourcesOfCluster(resolved), scope);
      return resolved;
    });
  }

  listener(message: JsonObject): Resolution<ResolvedListener> {
    return this.#run((scope) => {
      const resolved = resolveListener(message as unknown as Listener, this.#filters, scope);
      if (resolved !== undefined) this.#checkSources(sourcesOfListener(resolved), scope);
      return resolved;
    });
  }

  *routesInSteps(message: JsonObject): Steps<Resolution<RouteConfigurationResource>> {
    const run = this.#begin();
    return this.#end(run, yield* this.#resolveRoutes(message, run.scope));
  }

  /** Where the virtual hosts come from that complete a route configuration. */
  hostsSource({ config_source: message = {} }: Vhds): Resolution<ConfigSource> {
    return this.#run((scope) => {
      const source = resolveConfigSource(message, scope.at('config_source'));
      if (source === undefined) return undefined;
      if (source.kind === 'ads' || (source.kind === 'grpc' && source.isDelta)) return source;
      const text =
        source.kind === 'path'
          ? "vhds: only 'DELTA_GRPC' or 'ADS' (which uses Delta xDS) is supported as a config source."
          : "vhds: only 'DELTA_GRPC' is supported as an api_type.";
      scope.error('conflict', text);
      return undefined;
    });
  }

  /** `isUpstream`: for attempts. */
  filter(message: HttpFilterMessage, isUpstream: boolean): Resolution<HttpFilter> {
    const resolve = isUpstream ? resolveUpstreamSettings : resolveFilterSettings;
    return this.#run((scope) => resolve(message, scope));
  }

  /** What `known` has of the message's endpoints stays; what is new is added to it. */
  *hostsInSteps(
    cluster: string,
    message: JsonObject,
    known: ResolvedHosts,
  ): Steps<Resolution<ClusterHostsResource>> {
    const assignment = message as unknown as ClusterLoadAssignment;
    const run = this.#begin();
    const hosts = yield* loadAssignmentInSteps(cluster, assignment, run.scope, known);
    return this.#end(run, hosts);
  }

  /** Everything that is wrong with a resource that stands at a place of a file. */
  check(kind: DiscoveryKind, message: JsonObject, place: Place): readonly Problem[] {
    const problems: Problem[] = [];
    this.#checks[kind](message, this.#scope(problems, place));
    return problems;
  }

  #checkSources(named: ReturnType<typeof sourcesOfListener>, scope: Scope): void {
    const { isStaticCluster } = this.#options;
    if (isStaticCluster === undefined) return;
    checkSources(named, isStaticCluster, scope);
    const sources = [
      ...named.sources,
      ...named.secrets.flatMap((each) => ('source' in each ? each.source : [])),
    ];
    if (this.#hasAggregated || !sources.some(({ kind }) => kind === 'ads')) return;
    scope.error('conflict', 'ADS must be configured to support an ADS config source');
  }

  #resolveRoutes(message: JsonObject, scope: Scope): Steps<RouteConfigurationResource> {
    const source = {
      validatesClusters: false,
      takesHosts: true,
      isKnownCluster: (name: string) => this.#options.isKnownCluster(name),
    };
    return routeConfigurationInSteps(message as unknown as RouteConfiguration, source, scope);
  }

  /** Resolves a secret whose files were read into it. */
  secret(message: JsonObject, kind: TlsSecret['kind']): Resolution<TlsSecret> {
    const {
      name,
      tls_certificate: certificate,
      validation_context: validation,
      session_ticket_keys: tickets,
      generic_secret: generic,
    } = message as Secret;
    const named = name === undefined ? {} : { secretName: name };
    return this.#run<TlsSecret>((scope) => {
      if (kind === 'certificate') {
        const place = scope.at('tls_certificate');
        if (certificate === undefined) place.error('reference', NO_CERTIFICATE);
        const resolved = certificate && resolveCertificate(certificate, place);
        return resolved && { kind, certificate: { ...resolved, ...named } };
      }
      if (kind === 'tickets') {
        const place = scope.at('session_ticket_keys');
        if (tickets === undefined)
          place.error('reference', 'the secret has no session_ticket_keys');
        const ticketKeys = tickets && resolveTicketKeys(tickets, place);
        return ticketKeys === undefined ? undefined : { kind, ticketKeys };
      }
      if (kind === 'generic') {
        const value = readGenericSecret(generic, scope.at('generic_secret'));
        return value === undefined ? undefined : { kind, value };
      }
      const place = scope.at('validation_context');
      // Envoy takes it for a context that checks nobody.
      if (validation === undefined)
        place.error('reference', 'the secret has no validation_context');
      const resolved = validation && resolveValidation(validation, place, true);
      return resolved && { kind, validation: { ...resolved, ...named } };
    });
  }

  #run<Resolved>(resolve: (scope: Scope) => Resolved | undefined): Resolution<Resolved> {
    const run = this.#begin();
    return this.#end(run, resolve(run.scope));
  }

  #begin(): Run {
    const problems: Problem[] = [];
    const secrets: NamedSecret[] = [];
    const plain = this.#scope(problems);
    const onNamedSecret = (secret: NamedSecret): void => void secrets.push(secret);
    const scope = new Scope({ ...plain.context, onNamedSecret }, plain.place);
    return { scope, problems, secrets };
  }

  #end<Resolved>({ problems, secrets }: Run, resolved: Resolved | undefined): Resolution<Resolved> {
    const error = problems.find(({ severity }) => severity === 'error');
    if (error !== undefined) return { error: describeProblem(error) };
    for (const problem of problems) this.#warn(problem);
    return resolved === undefined ? { error: 'it cannot be used' } : { resolved, secrets };
  }

  /** A filter that is left out is told once and counted each time. */
  #warn(problem: Problem): void {
    const { filterSkips: skips } = this.#options.rules;
    const isSkip = problem.rule === 'skipped';
    if (isSkip && skips?.note(problem.message) !== true) return;
    this.#options.warn(describeProblem(problem));
  }

  #scope(problems: Problem[], place?: Place): Scope {
    const { bootstrap, rules, skipSecrets = false } = this.#options;
    const { maxRegexProgramSize, disabledExtensions, filterSkips } = rules;
    const defaultTracer = bootstrap.tracing?.http;
    const context = {
      problems: { report: (problem: Problem) => problems.push(problem) },
      maxRegexProgramSize,
      disabledExtensions,
      ...(filterSkips === undefined ? {} : { filterSkips }),
      skipSecrets,
      ...(defaultTracer === undefined ? {} : { defaultTracer }),
      secrets: this.#secrets,
      nodeName: { id: bootstrap.node?.id ?? '', cluster: bootstrap.node?.cluster ?? '' },
    };
    return new Scope(context, place);
  }
}
