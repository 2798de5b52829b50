/** Access log lines of one session of datagrams. */
import { dictionary } from '../../shared/text/dictionary.ts';
import type { AccessLog } from '../access-log/types.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { Traffic } from './udp-stats.ts';

const METADATA = 'udp.proxy.session';

export interface SessionLine {
  readonly logs: readonly AccessLog[];
  readonly info: StreamInfo;
  readonly clusterName: string;
  readonly traffic: Traffic;
}

export function writeSessionLine(
  { logs, info, clusterName, traffic }: SessionLine,
  type: StreamInfo['accessLogType'],
): void {
  if (logs.length === 0) return;
  const { bytesReceived, bytesSent, datagramsReceived, datagramsSent, errorsSent } = traffic;
  info.accessLogType = type;
  info.bytesReceived = bytesReceived;
  info.bytesSent = bytesSent;
  info.dynamicMetadata ??= new Map();
  info.dynamicMetadata.set(
    METADATA,
    dictionary<unknown>([
      ['bytes_received', bytesReceived],
      ['bytes_sent', bytesSent],
      ['cluster_name', clusterName],
      ['datagrams_received', datagramsReceived],
      ['datagrams_sent', datagramsSent],
      ['errors_sent', errorsSent],
    ]),
  );
  for (const log of logs) log.log(info);
}
