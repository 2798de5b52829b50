/** Rewrites the authority of a request before routing: a trailing dot, a port that adds nothing. */

/** `a.` and `a.:80` without the dot. */
export function stripTrailingDot(authority: string): string {
  if (authority.endsWith('.')) return authority.slice(0, -1);
  const port = portStart(authority);
  if (port < 1 || authority[port - 1] !== '.') return authority;
  return authority.slice(0, port - 1) + authority.slice(port);
}

/** Without its port; with `onlyPort`, only when the port is that one. */
export function stripPort(authority: string, onlyPort?: number): string {
  const start = portStart(authority);
  if (start < 0) return authority;
  if (onlyPort !== undefined && Number(authority.slice(start + 1)) !== onlyPort) return authority;
  return authority.slice(0, start);
}

/** Index of the colon before a numeric port, -1 when there is none. */
function portStart(authority: string): number {
  const colon = authority.lastIndexOf(':');
  if (colon < 0 || colon === authority.length - 1) return -1;
  for (let at = colon + 1; at < authority.length; at += 1) {
    const digit = authority.charCodeAt(at);
    if (digit < 0x30 || digit > 0x39) return -1;
  }
  return colon;
}
