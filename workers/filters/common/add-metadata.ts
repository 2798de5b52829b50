/** Writes dynamic metadata, which access logs, matchers and other filters read. */
import { joined, type Struct } from '../../../shared/text/dictionary.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';

/** Adds the members of `value` to a namespace; what was there under their names is replaced. */
export function addMetadata(info: StreamInfo, namespace: string, value: Struct): void {
  const metadata = (info.dynamicMetadata ??= new Map<string, Struct>());
  metadata.set(namespace, joined(metadata.get(namespace), value));
}
