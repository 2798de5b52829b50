/** Writes dynamic metadata, which access logs, matchers and other filters read. */
import type { StreamInfo } from '../http/stream-info.ts';

type Struct = Record<string, unknown>;

/** Adds the members of `value` to a namespace; what was there under their names is replaced. */
export function addMetadata(info: StreamInfo, namespace: string, value: Struct): void {
  const metadata = (info.dynamicMetadata ??= new Map<string, Struct>());
  metadata.set(namespace, { ...metadata.get(namespace), ...value });
}
