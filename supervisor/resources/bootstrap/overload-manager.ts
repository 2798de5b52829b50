/**
 * Resolves the overload manager: its monitors, the actions that they trigger, and the limit on
 * downstream connections.
 */
import { meantName } from '../meant-name.ts';
import { existsSync } from 'node:fs';
import type {
  OverloadAction as ActionMessage,
  OverloadManager,
} from '../../../shared/api/generated/envoy/config/overload/v3/overload.ts';
import type { CgroupMemoryConfig } from '../../../shared/api/generated/envoy/extensions/resource_monitors/cgroup_memory/v3/cgroup_memory.ts';
import type { CpuUtilizationConfig } from '../../../shared/api/generated/envoy/extensions/resource_monitors/cpu_utilization/v3/cpu_utilization.ts';
import type { DownstreamConnectionsConfig } from '../../../shared/api/generated/envoy/extensions/resource_monitors/downstream_connections/v3/downstream_connections.ts';
import type { FixedHeapConfig } from '../../../shared/api/generated/envoy/extensions/resource_monitors/fixed_heap/v3/fixed_heap.ts';
import type { InjectedResourceConfig } from '../../../shared/api/generated/envoy/extensions/resource_monitors/injected_resource/v3/injected_resource.ts';
import type {
  OverloadAction,
  OverloadConfig,
  ResourceMonitor,
} from '../../overload/overload-config.ts';
import type { LeastTimeout } from '../../../shared/resources/overload.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, optional } from '../values.ts';
import { resolveLeastTimeouts } from './least-timeouts.ts';
import { resolveShedPoints, resolveTriggers } from './load-shed-points.ts';

const FIELDS = knownFields<OverloadManager>(
  ['resource_monitors', 'actions', 'loadshed_points', 'refresh_interval'],
  ['buffer_factory_config'],
);
const HEAP_FIELDS = knownFields<FixedHeapConfig>(['max_heap_size_bytes']);
const REFRESH_MS = 1000;

type Resolved = ResourceMonitor | { readonly kind: 'connections'; readonly max: number };

const TYPE = 'envoy.extensions.resource_monitors';

export const MONITORS = new ExtensionRegistry<Resolved>(
  'envoy.resource_monitors',
  'resource monitor',
  {
    connections: extension(
      'envoy.resource_monitors.global_downstream_max_connections',
      `${TYPE}.downstream_connections.v3.DownstreamConnectionsConfig`,
      (message: DownstreamConnectionsConfig) => ({
        kind: 'connections',
        max: Number(message.max_active_downstream_connections),
      }),
    ),
    fixed_heap: extension(
      'envoy.resource_monitors.fixed_heap',
      `${TYPE}.fixed_heap.v3.FixedHeapConfig`,
      (message: FixedHeapConfig, scope, name) => {
        refuseOtherFields(message, HEAP_FIELDS, scope);
        const maxBytes = Number(message.max_heap_size_bytes ?? 0);
        if (maxBytes === 0) {
          scope.error('conflict', 'fixed_heap: max heap size must be greater than 0');
        }
        return { kind: 'fixed_heap', name, maxBytes };
      },
    ),
    cgroup_memory: extension(
      'envoy.resource_monitors.cgroup_memory',
      `${TYPE}.cgroup_memory.v3.CgroupMemoryConfig`,
      ({ max_memory_bytes: max }: CgroupMemoryConfig, _scope, name) => ({
        kind: 'cgroup_memory',
        name,
        maxBytes: max === undefined ? undefined : Number(max),
      }),
    ),
    cpu: extension(
      'envoy.resource_monitors.cpu_utilization',
      `${TYPE}.cpu_utilization.v3.CpuUtilizationConfig`,
      (message: CpuUtilizationConfig, _scope, name) => ({
        kind: 'cpu',
        name,
        isOfContainer: message.mode === 'CONTAINER',
      }),
    ),
    file: extension(
      'envoy.resource_monitors.injected_resource',
      `${TYPE}.injected_resource.v3.InjectedResourceConfig`,
      ({ filename: path = '' }: InjectedResourceConfig, scope, name) => {
        if (!existsSync(path)) {
          const text = `unable to add filesystem watch for file ${path}: No such file or directory`;
          scope.at('filename').error('file', text);
        }
        return { kind: 'file', name, path };
      },
    ),
  },
);

const CLOSE_IDLE = 'envoy.overload_actions.close_idle_http_connections';
const SHRINK_HEAP = 'envoy.overload_actions.shrink_heap';
const REDUCE_TIMEOUTS = 'envoy.overload_actions.reduce_timeouts';
const RESET_STREAMS = 'envoy.overload_actions.reset_high_memory_stream';
const ACTIONS = new Set([
  'envoy.overload_actions.stop_accepting_requests',
  'envoy.overload_actions.disable_http_keepalive',
  'envoy.overload_actions.stop_accepting_connections',
  'envoy.overload_actions.reject_incoming_connections',
  CLOSE_IDLE,
  SHRINK_HEAP,
  REDUCE_TIMEOUTS,
  RESET_STREAMS,
]);

/** Undefined without an overload manager. */
export function resolveOverloadManager(
  message: OverloadManager | undefined,
  scope: Scope,
): OverloadConfig | undefined {
  if (message === undefined) return undefined;
  refuseOtherFields(message, FIELDS, scope);
  const monitors: ResourceMonitor[] = [];
  const known = new Set<string>();
  let maxConnections: number | undefined;
  for (const [index, monitor] of (message.resource_monitors ?? []).entries()) {
    const place = scope.at('resource_monitors', index);
    const { name = '' } = monitor;
    if (known.has(name)) place.error('duplicate', `Duplicate resource monitor ${name}`);
    known.add(name);
    const resolved = MONITORS.resolve(monitor, place);
    if (resolved?.kind === 'connections') maxConnections = resolved.max;
    else if (resolved !== undefined) monitors.push({ ...resolved, name });
  }
  return {
    refreshMs: durationMsOr(message.refresh_interval, REFRESH_MS),
    monitors,
    actions: resolveActions(message, known, scope),
    shedPoints: resolveShedPoints(message.loadshed_points, known, scope.at('loadshed_points')),
    leastTimeouts: leastTimeoutsOf(message, scope),
    ...optional('maxConnections', maxConnections),
  };
}

function resolveActions(
  message: OverloadManager,
  known: ReadonlySet<string>,
  scope: Scope,
): readonly OverloadAction[] {
  const seen = new Set<string>();
  return (message.actions ?? []).map((action, index) => {
    const place = scope.at('actions', index);
    const { name = '', triggers = [] } = action;
    if (!ACTIONS.has(name)) {
      const text = `Unknown Overload Manager Action ${name}`;
      place.error('reference', text, meantName(name, ACTIONS));
    }
    if (seen.has(name)) place.error('duplicate', `Duplicate overload action ${name}`);
    seen.add(name);
    checkAction(action, message, place);
    const what = `overload action ${name}`;
    return { name, triggers: resolveTriggers(triggers, { known, what }, place.at('triggers')) };
  });
}

function leastTimeoutsOf(message: OverloadManager, scope: Scope): readonly LeastTimeout[] {
  return (message.actions ?? []).flatMap(({ name, typed_config: config }, index) =>
    name === REDUCE_TIMEOUTS && config !== undefined
      ? resolveLeastTimeouts(config, scope.at('actions', index, 'typed_config'))
      : [],
  );
}

/** What actions need, and what they cannot do in this runtime. */
function checkAction(action: ActionMessage, message: OverloadManager, place: Scope): void {
  const { name = '', typed_config: config } = action;
  if (name === REDUCE_TIMEOUTS) {
    if (config === undefined) {
      place.error('conflict', `Overload action "${name}" requires typed_config`);
    }
  } else if (config !== undefined && name !== SHRINK_HEAP) {
    const text = `Overload action name "${name}" conflicts with its typed config`;
    place.at('typed_config').error('conflict', text);
  }
  if (name === RESET_STREAMS) {
    if (message.buffer_factory_config === undefined) {
      place.error('conflict', `Overload action "${name}" requires buffer_factory_config.`);
    }
    place.warning('no_effect', 'no stream is reset: what each may hold is limited in any case');
  }
  if (name === CLOSE_IDLE) {
    place.warning(
      'no_effect',
      'idle connections stay open, as in Envoy: cut their idle_timeout by reduce_timeouts',
    );
  }
  if (name === SHRINK_HEAP) {
    place.warning('no_effect', 'the runtime gives memory back by itself');
  }
}
