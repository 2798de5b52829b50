/** The connection of requests that no client has caused. */
import { pipeAddress } from './addresses.ts';
import type { ConnectionInfo } from './connection-info.ts';

const NO_ADDRESS = pipeAddress('');
export const NO_CONNECTION: ConnectionInfo = {
  id: 0,
  remoteAddress: NO_ADDRESS,
  directRemoteAddress: NO_ADDRESS,
  localAddress: NO_ADDRESS,
  listenerName: '',
  direction: 'UNSPECIFIED',
  filterChainName: '',
  requestedServerName: '',
  tls: undefined,
  terminationDetails: '',
  transportFailureReason: '',
};
