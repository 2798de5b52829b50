/** Names of clusters that a dynamic forward proxy makes, one for each name that requests carry. */

const PREFIX = 'DFPCluster:';

/** `host` is `name:port`, IPv6 addresses in brackets. */
export function subClusterName(host: string): string {
  return PREFIX + host;
}

/** It lives as long as its forward proxy wants, whatever a control plane lists. */
export function isSubClusterName(name: string): boolean {
  return name.startsWith(PREFIX);
}
