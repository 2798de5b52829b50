/** Finds the host that a block of statistics belongs to. */

/** As `UpstreamClusters` gives them. */
interface KnownClusters {
  get(name: string): { host(id: string): unknown } | undefined;
}

/** Both the cluster's name and the host's may contain dots: the clusters say where one ends. */
export function locateHost(
  prefix: string,
  clusters: KnownClusters,
): { readonly cluster: string; readonly host: string } | undefined {
  const names = prefix.slice('host.'.length, -1);
  for (let dot = names.indexOf('.'); dot !== -1; dot = names.indexOf('.', dot + 1)) {
    const cluster = names.slice(0, dot);
    const host = names.slice(dot + 1);
    if (clusters.get(cluster)?.host(host) !== undefined) return { cluster, host };
  }
  return undefined;
}
