/**
 * Reads what is needed to answer a response, even when what is inside its fields cannot be read.
 */
import protobuf from 'protobufjs/minimal.js';

export interface ResponseHead {
  /** `version_info` or `system_version_info`. */
  readonly versionInfo: string;
  readonly typeUrl: string;
  readonly nonce: string;
  /** The control plane's identifier; empty when it does not say. */
  readonly identifier: string;
}

/** Field numbers of DiscoveryResponse; an incremental one has `control_plane` elsewhere. */
const VERSION = 1;
const TYPE_URL = 4;
const NONCE = 5;
const CONTROL_PLANE = { sotw: 6, delta: 7 } as const;
const LENGTH_DELIMITED = 2;

/** Undefined for what is no message. */
export function readResponseHead(
  message: Buffer,
  protocol: 'sotw' | 'delta',
): ResponseHead | undefined {
  const head = { versionInfo: '', typeUrl: '', nonce: '', identifier: '' };
  try {
    const reader = protobuf.Reader.create(message);
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      const field = (tag & 7) === LENGTH_DELIMITED ? tag >>> 3 : 0;
      if (field === VERSION) head.versionInfo = reader.string();
      else if (field === TYPE_URL) head.typeUrl = reader.string();
      else if (field === NONCE) head.nonce = reader.string();
      else if (field === CONTROL_PLANE[protocol]) head.identifier = identifierOf(reader.bytes());
      else reader.skipType(tag & 7);
    }
  } catch {
    return undefined;
  }
  return head;
}

function identifierOf(bytes: Uint8Array): string {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) return reader.string();
    reader.skipType(tag & 7);
  }
  return '';
}
