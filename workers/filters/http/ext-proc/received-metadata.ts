/** Dynamic metadata that a processor writes: into namespaces that are allowed, and no others. */
import type { Struct } from '../../../../shared/text/dictionary.ts';
import { DictionaryObject } from '../../../../shared/text/dictionary.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import { addMetadata } from '../../common/add-metadata.ts';

export function keepReceived(info: StreamInfo, metadata: Struct, allowed: readonly string[]): void {
  for (const namespace of allowed) {
    const value = Object.hasOwn(metadata, namespace) ? metadata[namespace] : undefined;
    if (value instanceof DictionaryObject) addMetadata(info, namespace, value as Struct);
  }
}
