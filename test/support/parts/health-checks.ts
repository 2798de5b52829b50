/** Active checks as workers get them. */

/** Once a second, over TCP, with one result for a change. */
export const TCP_CHECK = {
  timeoutMs: 1000,
  intervalMs: 1000,
  unhealthyIntervalMs: 1000,
  healthyEdgeIntervalMs: 1000,
  unhealthyEdgeIntervalMs: 1000,
  noTrafficIntervalMs: 1000,
  noTrafficHealthyIntervalMs: 1000,
  initialJitterMs: 0,
  intervalJitterMs: 0,
  intervalJitterPercent: 0,
  unhealthyThreshold: 1,
  healthyThreshold: 1,
  reuseConnection: true,
  probe: { kind: 'tcp', send: '', receive: [] },
} as const;
