/** Objects of the Gateway API and of Envoy Gateway's own, as the trials write them. */

const ROUTES = 'gateway.networking.k8s.io';
const OWN = 'gateway.envoyproxy.io';
const NAMESPACE = 'default';

export function object(apiVersion: string, kind: string, name: string, spec: object): object {
  return { apiVersion, kind, metadata: { name, namespace: NAMESPACE }, spec };
}

/** One gateway with a listener for each feature, named like it. */
export function gateway(listeners: readonly object[]): object {
  return object(`${ROUTES}/v1`, 'Gateway', 'tried', { gatewayClassName: 'tried', listeners });
}

/** A host that policies and routes may name. */
export function backend(name: string, ...ports: readonly number[]): object {
  const endpoints = ports.map((port) => ({ ip: { address: '127.0.0.1', port } }));
  return object(`${OWN}/v1alpha1`, 'Backend', name, { endpoints });
}

export function backendRef(name: string, fields: object = {}): object {
  return { group: OWN, kind: 'Backend', name, ...fields };
}

/** An HTTPRoute of the feature's listener whose first rule goes to the host `web`, or as it says. */
export function httpRoute(name: string, rule: object = {}, rules: readonly object[] = []): object {
  const first = { backendRefs: [backendRef('web')], ...rule };
  return routeOf('HTTPRoute', name, { rules: [first, ...rules] });
}

export function routeOf(kind: string, name: string, spec: object): object {
  const parentRefs = [{ name: 'tried', sectionName: name }];
  return object(`${ROUTES}/v1`, kind, name, { parentRefs, ...spec });
}

/** A policy for the feature's route. */
export function policy(kind: string, name: string, spec: object, target = 'HTTPRoute'): object {
  const targetRefs = [{ group: ROUTES, kind: target, name }];
  return object(`${OWN}/v1alpha1`, kind, name, { targetRefs, ...spec });
}

/** A policy for the feature's listener. */
export function listenerPolicy(name: string, spec: object): object {
  const targetRefs = [{ group: ROUTES, kind: 'Gateway', name: 'tried', sectionName: name }];
  return object(`${OWN}/v1alpha1`, 'ClientTrafficPolicy', name, { targetRefs, ...spec });
}

/** A filter of routes of Envoy Gateway's own, and how a rule names it. */
export function routeFilter(name: string, spec: object): object {
  return object(`${OWN}/v1alpha1`, 'HTTPRouteFilter', name, spec);
}

export function filterRef(name: string): object {
  return { type: 'ExtensionRef', extensionRef: { group: OWN, kind: 'HTTPRouteFilter', name } };
}

export function secret(
  name: string,
  data: Readonly<Record<string, string>>,
  type = 'Opaque',
): object {
  const encoded = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type,
    metadata: { name, namespace: NAMESPACE },
    data: Object.fromEntries(encoded) as object,
  };
}

export function configMap(name: string, data: Readonly<Record<string, string>>): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data };
}
