/**
 * Resolves a bootstrap that passed the pipeline of supervisor/config: semantic checks over all of
 * it, every problem reported, and the resources in the form in which workers take them.
 */
import type { FilterSkips } from '../../resolved/filter-skips.ts';
import { structOf } from '../../../shared/text/dictionary.ts';
import type { Secret } from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/secret.ts';
import type { Bootstrap } from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { ApiConfigSource } from '../../../shared/api/generated/envoy/config/core/v3/config_source.ts';
import type { Problem, ProblemSink } from '../../config/problem.ts';
import { DEFAULT_FLUSH_INTERVAL_MS, resolveStatsConfig } from './resolve-stats-config.ts';
import { canCarryDiscovery } from '../check-config-source.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveGrpcService } from '../grpc-service.ts';
import type { GrpcTarget } from '../../../shared/resources/grpc-target.ts';
import type { NodeIdentity, ResolvedBootstrap } from '../../resolved/resolved-bootstrap.ts';
import { Scope, type ResolveContext } from '../scope.ts';
import type { StaticResources } from '../../store/static-store.ts';
import { durationMsOr, optional } from '../values.ts';
import { checkWritable } from '../writable-file.ts';
import { resolveAdmin } from './admin.ts';
import { allowsInternalListeners, resolveBootstrapExtensions } from './bootstrap-extensions.ts';
import { checkNode, checkNamedSources, resolveDynamicResources } from './dynamic-resources.ts';
import { resolveOverloadManager } from './overload-manager.ts';
import { checkRuntimeSources, resolveRuntime } from './runtime-layers.ts';
import {
  resolveStaticClusters,
  resolveStaticListeners,
  staticSecrets,
} from './static-resources.ts';
import { resolveWorkerKillTimeout } from './watchdogs.ts';

/** What the command line says beside the file. Empty strings say nothing. */
export interface BootstrapOverrides {
  readonly serviceNode: string;
  readonly serviceCluster: string;
  readonly serviceZone: string;
  /** `--stats-tag`, in order. */
  readonly statsTags: readonly { readonly name: string; readonly value: string }[];
  /** `category/name` of extensions that may not be used. */
  readonly disabledExtensions: ReadonlySet<string>;
  /** Which filters that there are not may be left out. */
  readonly filterSkips?: FilterSkips;
  /** Certificates and keys are not read, only what is said about them is checked. */
  readonly skipSecrets: boolean;
  /** No server is to start: the file of listeners may come to be until one does, as in Envoy. */
  readonly isForValidation?: boolean;
}

export interface BootstrapResolution {
  /** Absent when a problem is an error. */
  readonly bootstrap?: ResolvedBootstrap;
  /** What the bootstrap configures with its messages, for the resource store. */
  readonly resources: StaticResources;
  readonly problems: readonly Problem[];
}

const FIELDS = knownFields<Bootstrap>(
  [
    'node',
    'static_resources',
    'dynamic_resources',
    'cluster_manager',
    'stats_sinks',
    'stats_config',
    'tracing',
    'stats_flush_interval',
    'stats_server_version_override',
    'stats_flush_on_admin',
    'stats_eviction_interval',
    'flags_path',
    'hds_config',
    'watchdog',
    'watchdogs',
    'layered_runtime',
    'admin',
    'overload_manager',
    'bootstrap_extensions',
    'default_regex_engine',
    'listener_manager',
    // Read by the log itself.
    'application_log_config',
    'use_tcp_for_dns_lookups',
    'dns_resolution_config',
    'typed_dns_resolver_config',
  ],
  [
    // Read where collections are asked for.
    'node_context_params',
    // What Envoy does not look at either, unless its runtime says so.
    'config_sources',
    'default_config_source',
    'grpc_async_client_manager_config',
    'certificate_provider_instances',
    // How Envoy stores statistics and headers and when it gives memory back.
    'deferred_stat_options',
    'inline_headers',
    'memory_allocator_manager',
    'perf_tracing_file_path',
    // The choice among several socket interfaces; Envoy goes on with its own where nobody has that
    // name.
    'default_socket_interface',
  ],
);

/** Envoy's limit on regular expressions when the runtime sets none. */
const REGEX_PROGRAM_SIZE = 100;

function resolveOwnFields(message: Bootstrap, scope: Scope): ResolvedBootstrap['adminPages'] {
  refuseOtherFields(message, FIELDS, scope);
  return resolveBootstrapExtensions(message, scope);
}

/** What others name. */
function namedResources(message: Bootstrap): Pick<ResolveContext, 'clusterNames' | 'secrets'> {
  const { clusters = [] } = message.static_resources ?? {};
  return {
    clusterNames: clusters.map(({ name = '' }) => name),
    secrets: staticSecrets(message),
  };
}

function rulesOf({ disabledExtensions, filterSkips }: BootstrapOverrides) {
  return { disabledExtensions, ...optional('filterSkips', filterSkips) };
}

/** Never throws for anything in the message. */
export async function resolveBootstrap(
  message: Bootstrap,
  overrides: BootstrapOverrides,
): Promise<BootstrapResolution> {
  const problems: Problem[] = [];
  const sink: ProblemSink = { report: (problem) => problems.push(problem) };
  const node = resolveNode(message, overrides);
  const runtime = resolveRuntime(
    message.layered_runtime,
    node.cluster,
    new Scope({ problems: sink, maxRegexProgramSize: REGEX_PROGRAM_SIZE }).at('layered_runtime'),
  );
  const routes: StaticResources['routes'][number][] = [];
  const secrets = message.static_resources?.secrets ?? [];
  const context: ResolveContext = {
    problems: sink,
    allowsInternalListeners: allowsInternalListeners(message),
    ...optional('defaultTracer', message.tracing?.http),
    nodeName: node,
    ...rulesOf(overrides),
    skipSecrets: overrides.skipSecrets,
    isForValidation: overrides.isForValidation ?? false,
    ...namedResources(message),
    onInlineRoutes: (inline, resolved) => routes.push({ message: inline, resolved }),
    maxRegexProgramSize: runtime.integer('re2.max_program_size.error_level', REGEX_PROGRAM_SIZE),
  };
  const scope = new Scope(context);
  const adminPages = resolveOwnFields(message, scope);
  checkSecrets(secrets, scope.at('static_resources'));
  const overload = resolveOverloadManager(message.overload_manager, scope.at('overload_manager'));
  checkStatsIntervals(message, scope);
  const clusters = await resolveStaticClusters(message, scope);
  const resources: StaticResources = {
    clusters: [...clusters.values()],
    listeners: resolveStaticListeners(message, (name) => clusters.has(name), scope),
    routes,
    secrets,
  };
  const isStaticCluster = (name: string): boolean =>
    canCarryDiscovery(clusters.get(name)?.resolved);
  const dynamic = resolveDynamicResources(message, isStaticCluster, scope);
  checkNamedSources(resources, isStaticCluster, scope.at('static_resources'));
  const usesRuntime = checkRuntimeSources(runtime.layers, isStaticCluster, scope);
  checkNode(node, { dynamic, resources, usesRuntime }, scope);
  const { cluster_manager: manager = {} } = message;
  const bootstrap: ResolvedBootstrap = {
    adminPages,
    dynamic,
    maxRegexProgramSize: context.maxRegexProgramSize,
    ...rulesOf(overrides),
    node,
    ...optional('outlierLogPath', resolveOutlierLog(message, scope)),
    ...optional('localCluster', message.cluster_manager?.local_cluster_name || undefined),
    clusters: resources.clusters.map(({ resolved }) => resolved),
    listeners: resources.listeners.map(({ resolved }) => resolved),
    ...optional('admin', resolveAdmin(message.admin, scope.at('admin'))),
    stats: resolveStatsConfig(message, { statsTags: overrides.statsTags, clusters, node }, scope),
    runtimeLayers: runtime.layers,
    ...optional('overload', overload),
    workerKillTimeoutMs: resolveWorkerKillTimeout(message, scope),
    ...optional(
      'loadStats',
      firstService(manager.load_stats_config, scope.at('cluster_manager', 'load_stats_config')),
    ),
    ...optional('healthDiscovery', firstService(message.hds_config, scope.at('hds_config'))),
    ...resolveSingleValues(message),
  };
  const isRefused = problems.some(({ severity }) => severity === 'error');
  return isRefused ? { resources, problems } : { bootstrap, resources, problems };
}

function resolveSingleValues(
  message: Bootstrap,
): Pick<ResolvedBootstrap, 'flagsPath' | 'versionGauge'> {
  const version = Number(message.stats_server_version_override ?? 0);
  return {
    ...optional('flagsPath', message.flags_path || undefined),
    ...optional('versionGauge', version || undefined),
  };
}

/** Only the first service counts, as in Envoy; without one nothing is told. */
function firstService(source: ApiConfigSource | undefined, scope: Scope): GrpcTarget | undefined {
  const service = source?.grpc_services?.[0];
  return service && resolveGrpcService(service, scope.at('grpc_services', 0));
}

function checkStatsIntervals(message: Bootstrap, scope: Scope): void {
  const { stats_flush_interval: flush, stats_eviction_interval: eviction } = message;
  if (message.stats_flush_on_admin === true && flush !== undefined) {
    scope.error(
      'conflict',
      'Only one of stats_flush_interval or stats_flush_on_admin should be set!',
    );
  }
  // What may be evicted are the statistics of loggers that count; all others stay, as in Envoy.
  const flushMs = durationMsOr(flush, DEFAULT_FLUSH_INTERVAL_MS);
  if (durationMsOr(eviction, 0) % flushMs === 0) return;
  scope
    .at('stats_eviction_interval')
    .error('conflict', 'stats_eviction_interval must be a multiple of stats_flush_interval');
}

function resolveOutlierLog(
  { cluster_manager: manager }: Bootstrap,
  scope: Scope,
): string | undefined {
  const path = manager?.outlier_detection?.event_log_path ?? '';
  if (path === '') return undefined;
  checkWritable(path, scope.at('cluster_manager', 'outlier_detection', 'event_log_path'));
  return path;
}

function checkSecrets(secrets: readonly Secret[], scope: Scope): void {
  for (const [index, secret] of secrets.entries()) {
    const { tls_certificate: certificate, validation_context: validation } = secret;
    const kinds = [certificate, validation, secret.session_ticket_keys, secret.generic_secret];
    if (kinds.some((kind) => kind !== undefined)) continue;
    scope.at('secrets', index).error('conflict', 'Secret type not implemented');
  }
}

function resolveNode({ node = {} }: Bootstrap, overrides: BootstrapOverrides): NodeIdentity {
  const { id = '', cluster = '', locality = {} } = node;
  return {
    id: overrides.serviceNode === '' ? id : overrides.serviceNode,
    cluster: overrides.serviceCluster === '' ? cluster : overrides.serviceCluster,
    zone: overrides.serviceZone === '' ? (locality.zone ?? '') : overrides.serviceZone,
    ...optional('region', locality.region),
    ...optional('subZone', locality.sub_zone),
    metadata: structOf(node.metadata ?? {}),
  };
}
