/** This server as it names itself to others: as a message, and encoded for streams to services. */
import protobuf from 'protobufjs/minimal.js';
import type { JsonObject } from '../../shared/api/well-known.ts';
import { ApiCatalog } from '../config/api/api-catalog.ts';
import { encodeMessage } from '../config/convert/message-encoder.ts';
import { nodeMessage } from '../services/node-message.ts';
import type { Configuration } from '../start/load-configuration.ts';

/** The first field of a message, and that it is a message itself. */
const FIRST_MESSAGE = (1 << 3) | 2;

export class OwnNode {
  readonly #configuration: Configuration;
  readonly #version: string;
  #message: JsonObject | undefined;
  #encoded: Uint8Array | undefined;

  constructor(configuration: Configuration, version: string) {
    this.#configuration = configuration;
    this.#version = version;
  }

  /** A message of type envoy.config.core.v3.Node. */
  get message(): JsonObject {
    const { bootstrap, resolved } = this.#configuration;
    this.#message ??= nodeMessage({
      configured: (bootstrap.node ?? {}) as JsonObject,
      identity: resolved.node,
      version: this.#version,
    });
    return this.#message;
  }

  get encoded(): Uint8Array {
    if (this.#encoded === undefined) {
      const catalog = new ApiCatalog();
      this.#encoded = encodeMessage(
        catalog,
        catalog.message('envoy.config.core.v3.Node'),
        this.message,
      );
    }
    return this.#encoded;
  }

  /** Begins the first message of a stream: its field `identifier`, which has the node alone. */
  get identifier(): Uint8Array {
    const writer = protobuf.Writer.create();
    writer.uint32(FIRST_MESSAGE).fork();
    writer.uint32(FIRST_MESSAGE).bytes(this.encoded);
    return writer.ldelim().finish();
  }
}
