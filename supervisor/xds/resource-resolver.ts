/**
 * Resolves single resources that came from a control plane, with the same resolvers and checks as those
 * of the bootstrap. Each call gives the resolved form or the first mistake as text.
 */
import type { Bootstrap } from '../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { Cluster } from '../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { ClusterLoadAssignment } from '../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import type { Listener } from '../../shared/api/generated/envoy/config/listener/v3/listener.ts';
import type { RouteConfiguration } from '../../shared/api/generated/envoy/config/route/v3/route.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { ClusterHostsResource } from '../../shared/resources/cluster.ts';
import type { RouteConfigurationResource } from '../../shared/resources/route.ts';
import { formatPlace, type Problem } from '../config/problem.ts';
import { resolveClusterDefaults } from '../resources/bootstrap/static-resources.ts';
import { resolveCluster, type ClusterDefaults } from '../resources/clusters/cluster.ts';
import { resolveLoadAssignment } from '../resources/clusters/load-assignment.ts';
import { resolveListener } from '../resources/listeners/listener.ts';
import { NetworkFilterResolver } from '../resources/listeners/network-filters.ts';
import type { ResolvedCluster, ResolvedListener } from '../resources/resolved-bootstrap.ts';
import { resolveRouteConfiguration } from '../resources/routes/route-configuration.ts';
import { Scope } from '../resources/scope.ts';

export type Resolution<Resolved> =
  | { readonly resolved: Resolved; readonly error?: undefined }
  | { readonly resolved?: undefined; readonly error: string };

export interface ResolverOptions {
  readonly bootstrap: Bootstrap;
  readonly maxRegexProgramSize: number;
  isKnownCluster(name: string): boolean;
  /** Of what is accepted though it has no effect. */
  warn(text: string): void;
}

export class ResourceResolver {
  readonly #options: ResolverOptions;
  readonly #defaults: ClusterDefaults;
  readonly #filters: NetworkFilterResolver;

  constructor(options: ResolverOptions) {
    this.#options = options;
    this.#defaults = resolveClusterDefaults(options.bootstrap, this.#scope([]));
    this.#filters = new NetworkFilterResolver((name) => options.isKnownCluster(name));
  }

  cluster(message: JsonObject): Resolution<ResolvedCluster> {
    return this.#run((scope) =>
      resolveCluster(message as unknown as Cluster, this.#defaults, scope),
    );
  }

  listener(message: JsonObject): Resolution<ResolvedListener> {
    return this.#run((scope) =>
      resolveListener(message as unknown as Listener, this.#filters, scope),
    );
  }

  routes(message: JsonObject): Resolution<RouteConfigurationResource> {
    const source = {
      validatesClusters: false,
      isKnownCluster: (name: string) => this.#options.isKnownCluster(name),
    };
    return this.#run((scope) =>
      resolveRouteConfiguration(message as unknown as RouteConfiguration, source, scope),
    );
  }

  hosts(cluster: string, message: JsonObject): Resolution<ClusterHostsResource> {
    return this.#run((scope) =>
      resolveLoadAssignment(cluster, message as unknown as ClusterLoadAssignment, scope),
    );
  }

  #run<Resolved>(resolve: (scope: Scope) => Resolved | undefined): Resolution<Resolved> {
    const problems: Problem[] = [];
    const resolved = resolve(this.#scope(problems));
    const error = problems.find(({ severity }) => severity === 'error');
    if (error !== undefined) return { error: describe(error) };
    for (const problem of problems) this.#options.warn(describe(problem));
    return resolved === undefined ? { error: 'it cannot be used' } : { resolved };
  }

  #scope(problems: Problem[]): Scope {
    const { maxRegexProgramSize } = this.#options;
    return new Scope({
      problems: { report: (problem) => problems.push(problem) },
      maxRegexProgramSize,
    });
  }
}

/** Messages that the reference has too say by themselves what they mean; ours need the place. */
function describe({ message, place, suggestion, rule }: Problem): string {
  const hint = suggestion === undefined ? '' : ` (${suggestion})`;
  const where = rule === 'unsupported' || rule === 'no_effect' ? formatPlace(place) : '';
  return `${where === '' ? '' : `${where}: `}${message}${hint}`;
}
