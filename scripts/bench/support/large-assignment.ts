/** Load assignments of 10,000 hosts of which some are others from round to round. */

export const HOSTS = 10_000;

export const CHANGES = [
  { what: 'ten hosts are others', changed: 10 },
  { what: 'all hosts are others', changed: HOSTS },
] as const;

/**
 * The assignment of the cluster `large`: the hosts that change differ between an even and an odd
 * round, and lie apart.
 */
export function largeAssignment(round: number, changed: number): object {
  const apart = HOSTS / changed;
  const lb_endpoints = Array.from({ length: HOSTS }, (_, at) => ({
    endpoint: {
      address: {
        socket_address: {
          address: `127.${at % apart === 0 && round % 2 === 1 ? 2 : 1}.${at >> 8}.${at & 255}`,
          port_value: 80,
        },
      },
    },
  }));
  return {
    '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
    cluster_name: 'large',
    endpoints: [{ lb_endpoints }],
  };
}
