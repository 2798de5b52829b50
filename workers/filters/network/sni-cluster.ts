/** sni_cluster: the TLS client's server name is the cluster. */
import type { NetworkGate } from '../network-gate.ts';

/** The TCP proxy behind it goes to the cluster of the name that the client asked for, if it did. */
export function makeSniClusterGate(): NetworkGate {
  return {
    onConnection({ connection }) {
      const { requestedServerName: name } = connection;
      if (name !== '') connection.upstreamCluster = name;
      return true;
    },
    release: () => undefined,
  };
}
