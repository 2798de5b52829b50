/** Small bootstraps with one thing of their own, and what they resolve to. */
import assert from 'node:assert/strict';
import { type ResolvedBootstrap } from '../../../../supervisor/resolved/resolved-bootstrap.ts';
import { baseBootstrap } from './base-bootstrap.ts';
import { resolveConfig } from './resolve-text.ts';

export async function resolved(bootstrap: object): Promise<ResolvedBootstrap> {
  const outcome = await resolveConfig(bootstrap);
  assert.equal(outcome.kind, 'resolved', JSON.stringify(outcome));
  const { bootstrap: result, problems } = outcome.kind === 'resolved' ? outcome.resolution : {};
  assert.ok(result, JSON.stringify(problems));
  return result;
}

export interface Base {
  static_resources: {
    listeners: {
      [field: string]: unknown;
      filter_chains: { filters: { typed_config: { [field: string]: unknown } }[] }[];
    }[];
    clusters: { [field: string]: unknown }[];
  };
}

export function base(): Base {
  return baseBootstrap() as Base;
}

export function withManager(fields: object): Base {
  const bootstrap = base();
  Object.assign(
    bootstrap.static_resources.listeners[0]!.filter_chains[0]!.filters[0]!.typed_config,
    fields,
  );
  return bootstrap;
}

export function withCluster(fields: object): Base {
  const bootstrap = base();
  Object.assign(bootstrap.static_resources.clusters[0]!, fields);
  return bootstrap;
}
