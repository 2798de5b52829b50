/** Resolves clusters whose hosts are found by a module of the operator's own. */
import type { ScriptCluster } from '../../../shared/api/generated/sluice/clusters/script/v1/script.ts';
import type { EndpointDiscovery } from '../../resolved/resolved-bootstrap.ts';
import type { Scope } from '../scope.ts';
import { resolveModule } from '../scripts.ts';
import { durationMsOr } from '../values.ts';

const INITIAL_FETCH_TIMEOUT_MS = 15_000;

/** Undefined after a reported problem. */
export function resolveScriptCluster(
  message: ScriptCluster,
  cluster: string,
  scope: Scope,
): EndpointDiscovery | undefined {
  const named = resolveModule(message, scope);
  if (named === undefined) return undefined;
  const { initial_fetch_timeout: timeout } = message;
  const initialFetchTimeoutMs = durationMsOr(timeout, INITIAL_FETCH_TIMEOUT_MS);
  const source = { kind: 'script' as const, ...named, cluster, initialFetchTimeoutMs };
  return { kind: 'endpoints', serviceName: cluster, source };
}
