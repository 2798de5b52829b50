/**
 * The only way configuration reaches a worker, static or dynamic: a static resource is simply the
 * first version of a resource. A batch is applied whole or not at all, in the order given.
 */
import type {
  ClusterHostsResource,
  ClusterResource,
  HostAnswer,
  HostResource,
} from './clusters/cluster.ts';
import type { AlikeHosts, KeptHosts } from './clusters/host-entries.ts';
import type { LazyTable } from './clusters/lazy-clusters.ts';
import type { HttpFilter } from './filters/http-filters.ts';
import type { ListenerResource } from './listener.ts';
import type { OverloadState } from './overload.ts';
import type { RouteConfigurationResource } from './routes/route.ts';
import type { RuntimeValue } from './runtime.ts';
import type { NamedScope } from './routes/scoped-routes.ts';
import type { TlsSecret } from './tls.ts';

/** A host, some that differ by their address alone, or some of the set before. */
export type HostEntry = HostResource | AlikeHosts | KeptHosts;

export type SentHostSet = Omit<ClusterHostsResource, 'hosts'> & {
  readonly hosts: readonly HostEntry[];
  /** The number of a large set, for the one after it; absent: nothing follows from this set. */
  readonly revision?: number;
  /**
   * The number of the set that kept hosts are of; absent: there are none. A worker that has another
   * set began with one that is newer than this, and leaves this one alone.
   */
  readonly base?: number;
};

export type ResourceUpdate =
  /**
   * `isWarming`: a version beside the one in use, whose hosts are checked and which no request
   * sees.
   */
  | { readonly op: 'put_cluster'; readonly cluster: ClusterResource; readonly isWarming?: true }
  /**
   * The version that warms takes the place of the one in use; where there is none nothing changes.
   */
  | { readonly op: 'promote_cluster'; readonly name: string }
  /** Clusters that nobody uses yet, with their hosts; see idle-clusters.ts for `packed`. */
  | {
      readonly op: 'put_idle_clusters';
      readonly names: readonly string[];
      readonly packed: Uint8Array;
      /** The tables of resources that have one. */
      readonly tables?: readonly LazyTable[];
    }
  | { readonly op: 'remove_cluster'; readonly name: string; readonly isWarming?: true }
  /** `more`: part of a set, the next part of which follows; see host-parts.ts. */
  | {
      readonly op: 'put_hosts';
      readonly hosts: SentHostSet;
      readonly isWarming?: true;
      readonly more?: true;
    }
  /** Hosts of a cluster whose health is another now; the others stay as they are. */
  | {
      readonly op: 'put_host_health';
      readonly cluster: string;
      /** Bits of host-health.ts by host id. */
      readonly bits: readonly (readonly [id: string, bits: number])[];
      readonly isWarming?: true;
    }
  /** Names that requests wait for were looked up; what was found came before this. */
  | {
      readonly op: 'put_host_answers';
      readonly cluster: string;
      readonly answers: readonly HostAnswer[];
    }
  /**
   * `key` is what listeners call it; other sources may have another one of the same name. `more`:
   * part of a configuration, the next part of which follows; `continues`: the first virtual host is
   * the rest of the last one of the part before; see route-parts.ts.
   */
  | {
      readonly op: 'put_route_configuration';
      readonly key: string;
      readonly routes: RouteConfigurationResource;
      readonly more?: true;
      readonly continues?: true;
    }
  /** By key. */
  | { readonly op: 'remove_route_configuration'; readonly name: string }
  /** By the key that listeners call them by; replaces all earlier ones of that key. */
  | {
      readonly op: 'put_scoped_routes';
      readonly key: string;
      readonly scopes: readonly NamedScope[];
    }
  | { readonly op: 'remove_scoped_routes'; readonly key: string }
  /** What these requests wait for was asked for; what there is came before this. */
  | { readonly op: 'put_route_answers'; readonly tickets: readonly number[] }
  /** By the key that TLS contexts name it by; those in use take it for new connections at once. */
  | { readonly op: 'put_secret'; readonly key: string; readonly secret: TlsSecret }
  | { readonly op: 'remove_secret'; readonly key: string }
  /** By the key that connection managers name the filter by; for requests that begin after it. */
  | { readonly op: 'put_extension'; readonly key: string; readonly filter: HttpFilter }
  | { readonly op: 'remove_extension'; readonly key: string }
  | { readonly op: 'put_listener'; readonly listener: ListenerResource }
  /** All runtime values; replaces the earlier ones. Read with shared/runtime/read-runtime.ts. */
  | { readonly op: 'put_runtime'; readonly values: readonly (readonly [string, RuntimeValue])[] }
  /** What is refused from now on; replaces the earlier state. */
  | { readonly op: 'put_overload'; readonly state: OverloadState }
  /** Stops accepting at once; open connections drain, then close. */
  | { readonly op: 'remove_listener'; readonly name: string };
