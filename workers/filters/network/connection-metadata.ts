/** Metadata that network filters write: later ones see it, and the requests of the connection. */
import type { Struct } from '../../../shared/text/dictionary.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { addMetadata } from '../common/add-metadata.ts';

/** `info` is the connection's own stream. */
export function addConnectionMetadata(info: StreamInfo, namespace: string, value: Struct): void {
  addMetadata(info, namespace, value);
  info.connection.dynamicMetadata = info.dynamicMetadata;
}
