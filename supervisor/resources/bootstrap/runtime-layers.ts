/** Reads the runtime layers of the bootstrap and flattens their keys (`a: {b: 1}` is `a.b`). */
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import type {
  LayeredRuntime,
  RuntimeLayer,
} from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { Scope } from '../scope.ts';
import type { RuntimeLayerSettings, RuntimeValue } from './runtime-snapshot.ts';

/** Layers in their order; without any configured, the reference has only the admin's. */
export function resolveRuntimeLayers(
  message: LayeredRuntime | undefined,
  scope: Scope,
): readonly RuntimeLayerSettings[] {
  const layers: RuntimeLayerSettings[] = [];
  for (const [index, layer] of (message?.layers ?? []).entries()) {
    const place = scope.at('layers', index);
    const name = layer.name ?? '';
    if (layers.some((other) => other.name === name)) {
      place.at('name').error('duplicate', `Duplicate layer name: ${name}`);
    }
    const resolved = resolveLayer(layer, name, place);
    if (resolved !== undefined) layers.push(resolved);
  }
  if (layers.filter(({ kind }) => kind === 'admin').length > 1) {
    scope.error(
      'conflict',
      'Too many admin layers specified in LayeredRuntime, at most one may be specified',
    );
  }
  return layers;
}

function resolveLayer(
  layer: RuntimeLayer,
  name: string,
  scope: Scope,
): RuntimeLayerSettings | undefined {
  if (layer.static_layer !== undefined) {
    const values = new Map<string, RuntimeValue>();
    flatten(layer.static_layer, '', values, scope.at('static_layer'));
    return { kind: 'static', name, values };
  }
  if (layer.disk_layer !== undefined) {
    const { symlink_root, subdirectory, append_service_cluster } = layer.disk_layer;
    return {
      kind: 'disk',
      name,
      symlinkRoot: symlink_root ?? '',
      subdirectory: subdirectory ?? '',
      appendServiceCluster: append_service_cluster ?? false,
    };
  }
  if (layer.admin_layer !== undefined) return { kind: 'admin', name };
  scope.at('rtds_layer').unsupported('runtime from a control plane (rtds_layer) is');
  return undefined;
}

function flatten(
  value: JsonObject,
  prefix: string,
  values: Map<string, RuntimeValue>,
  scope: Scope,
): void {
  for (const [key, entry] of Object.entries(value)) {
    const name = prefix === '' ? key : `${prefix}.${key}`;
    if (isLeaf(entry)) {
      values.set(name, entry);
    } else if (isObject(entry)) {
      flatten(entry, name, values, scope.at(key));
    } else {
      scope.at(key).error('conflict', `Invalid runtime entry value for ${name}`);
    }
  }
}

function isLeaf(value: JsonValue): value is RuntimeValue {
  if (typeof value !== 'object') return true;
  return isObject(value) && ('numerator' in value || 'denominator' in value);
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
