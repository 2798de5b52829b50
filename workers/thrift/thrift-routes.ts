/** Chooses the cluster of a Thrift request: by its method, its service and its headers. */
import type { ThriftRoute } from '../../shared/resources/filters/network/thrift-proxy.ts';
import { compileHeaderMatchers } from '../../shared/matchers/header-matcher.ts';
import type { Struct } from '../../shared/text/dictionary.ts';
import type { HeaderMap } from '../stream/header-map.ts';

export interface ThriftTarget {
  readonly cluster: string;
  readonly subset: Struct | undefined;
  readonly stripsService: boolean;
}

interface CompiledRoute {
  readonly matches: (method: string, headers: HeaderMap) => boolean;
  readonly target: (headers: HeaderMap) => Omit<ThriftTarget, 'stripsService'> | undefined;
  readonly stripsService: boolean;
}

export class ThriftRoutes {
  readonly #routes: readonly CompiledRoute[];

  constructor(routes: readonly ThriftRoute[], random: () => number) {
    this.#routes = routes.map((route) => ({
      matches: matcherOf(route),
      target: targetOf(route, random),
      stripsService: route.stripsService,
    }));
  }

  find(method: string, headers: HeaderMap): ThriftTarget | undefined {
    for (const { matches, target, stripsService } of this.#routes) {
      if (!matches(method, headers)) continue;
      const found = target(headers);
      if (found !== undefined) return { ...found, stripsService };
    }
    return undefined;
  }
}

function matcherOf({ method, service, inverts, headers }: ThriftRoute): CompiledRoute['matches'] {
  const fits = compileHeaderMatchers(headers);
  return (name, own) => {
    if (fits?.(own) === false) return false;
    const isNamed = (method === '' || name === method) && name.startsWith(service);
    return isNamed !== inverts;
  };
}

function targetOf({ target }: ThriftRoute, random: () => number): CompiledRoute['target'] {
  if (target.kind === 'header') {
    return (headers) => {
      const cluster = headers.get(target.name) ?? '';
      return cluster === '' ? undefined : { cluster, subset: target.subset };
    };
  }
  const { clusters } = target;
  const total = clusters.reduce((sum, { weight }) => sum + weight, 0);
  return () => {
    let left = random() * total;
    for (const { name: cluster, weight, subset } of clusters) {
      left -= weight;
      if (left < 0) return { cluster, subset };
    }
    return undefined;
  };
}
