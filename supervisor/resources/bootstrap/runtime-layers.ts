/** Checks the layers of `layered_runtime` and says what the configuration itself asks of them. */
import type {
  LayeredRuntime,
  RuntimeLayer as LayerMessage,
} from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import {
  readStaticLayer,
  RuntimeLayerError,
  type LayerValues,
} from '../../runtime/runtime-layers.ts';
import { type RuntimeLayer } from '../../resolved/runtime-layer.ts';
import { resolveConfigSource } from '../config-source.ts';
import { checkConfigSource } from '../check-config-source.ts';
import type { Scope } from '../scope.ts';

export interface ResolvedRuntime {
  readonly layers: readonly RuntimeLayer[];
  /** A whole number that the static layers set, the last one counting. */
  readonly integer: (key: string, fallback: number) => number;
}

export function resolveRuntime(
  message: LayeredRuntime | undefined,
  serviceCluster: string,
  scope: Scope,
): ResolvedRuntime {
  const layers: RuntimeLayer[] = [];
  const values: LayerValues[] = [];
  for (const [index, layer] of (message?.layers ?? []).entries()) {
    const place = scope.at('layers', index);
    const name = layer.name ?? '';
    if (layers.some((other) => other.name === name)) {
      place.at('name').error('duplicate', `Duplicate layer name: ${name}`);
    }
    const resolved = resolveLayer(layer, serviceCluster, place);
    if (resolved === undefined) continue;
    layers.push(resolved);
    if (resolved.kind === 'static') values.push(staticValues(resolved, place));
  }
  if (layers.filter(({ kind }) => kind === 'admin').length > 1) {
    scope.error(
      'conflict',
      'Too many admin layers specified in LayeredRuntime, at most one may be specified',
    );
  }
  return {
    layers,
    integer(key, fallback) {
      const number = values.findLast((layer) => layer.has(key))?.get(key)?.number;
      return number !== undefined && Number.isInteger(number) && number >= 0 ? number : fallback;
    },
  };
}

/** Whether any layer comes from elsewhere; where it is said to come from must be there. */
export function checkRuntimeSources(
  layers: readonly RuntimeLayer[],
  isStaticCluster: (name: string) => boolean,
  scope: Scope,
): boolean {
  const sources = layers.flatMap((layer) => (layer.kind === 'rtds' ? [layer.source] : []));
  for (const source of sources)
    checkConfigSource(source, isStaticCluster, scope.at('layered_runtime'));
  return sources.length > 0;
}

function resolveLayer(
  layer: LayerMessage,
  serviceCluster: string,
  scope: Scope,
): RuntimeLayer | undefined {
  const name = layer.name ?? '';
  if (layer.static_layer !== undefined) return { kind: 'static', name, values: layer.static_layer };
  if (layer.admin_layer !== undefined) return { kind: 'admin', name };
  if (layer.disk_layer !== undefined) {
    return { kind: 'disk', name, ...resolveFolder(layer.disk_layer, serviceCluster, scope) };
  }
  const { name: resource = '', rtds_config: config } = layer.rtds_layer ?? {};
  if (config === undefined && layer.rtds_layer !== undefined) {
    scope.at('rtds_layer').error('conflict', 'rtds_config is missing');
  }
  const source = config && resolveConfigSource(config, scope.at('rtds_layer').at('rtds_config'));
  return source === undefined ? undefined : { kind: 'rtds', name, resource, source };
}

function resolveFolder(
  {
    symlink_root: symlinkRoot = '',
    subdirectory = '',
    append_service_cluster: isByCluster = false,
  }: NonNullable<LayerMessage['disk_layer']>,
  serviceCluster: string,
  scope: Scope,
): { readonly symlinkRoot: string; readonly folder: string } {
  if (symlinkRoot === '') scope.at('disk_layer').error('file', 'invalid file path ');
  return { symlinkRoot, folder: isByCluster ? `${subdirectory}/${serviceCluster}` : subdirectory };
}

function staticValues(
  layer: Extract<RuntimeLayer, { readonly kind: 'static' }>,
  scope: Scope,
): LayerValues {
  try {
    return readStaticLayer(layer.values);
  } catch (error) {
    if (!(error instanceof RuntimeLayerError)) throw error;
    scope.at('static_layer').error('conflict', error.message);
    return new Map();
  }
}
