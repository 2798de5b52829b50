/** Secrets of clusters of the bootstrap that files hold: control planes may be behind those clusters. */
import type { NamedSecret } from '../../resolved/named-secret.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { NamedResources } from './named-resources.ts';

/** Resolves when they are there or were waited for in vain. */
export async function loadFileSecrets(
  store: ResourceStore,
  secrets: NamedResources<NamedSecret>,
): Promise<void> {
  const wanted = [...store.list('cluster')].flatMap(({ active }) => active?.resolved.secrets ?? []);
  const uses = wanted
    .filter((secret) => 'source' in secret && secret.source.kind === 'path')
    .map((secret) => secrets.use(secret));
  await Promise.all(uses.map(({ ready }) => ready));
  for (const use of uses) use.release();
}
