/**
 * Tells the other end of a connection which workload this one is, and learns which the other is: a
 * message of each end before its first bytes, where ALPN agreed on that. Source: Istio's network
 * filter metadata_exchange.
 */
import type { WorkerHeritage } from '../../../shared/messages/heritage.ts';
import { readMessage, visitFields } from '../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import { readStruct, writeMembers } from '../../../shared/protobuf/struct-message.ts';
import {
  METADATA_EXCHANGE,
  type MetadataExchangeOptions,
} from '../../../shared/resources/filters/network/metadata-exchange.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { dictionary, memberOf } from '../../../shared/text/dictionary.ts';
import { metadataOf, workloadOf, type Workload } from './istio-workload.ts';

const MAGIC = 0x3d_23_04_67;
/** The magic number and the length of what follows. */
const HEAD_BYTES = 8;
/** What is told of a workload; a peer with more of it is not one of Istio's. */
const MAX_MESSAGE_BYTES = 64 * 1024;

const METADATA = 'x-envoy-peer-metadata';
const ID = 'x-envoy-peer-metadata-id';
const STRUCT_TYPE = 'type.googleapis.com/google.protobuf.Struct';

type Stat = keyof typeof METADATA_EXCHANGE.index;

/** What all connections of one filter share. */
export class MetadataExchanges {
  readonly protocol: string;
  /** What this end says. */
  readonly message: Buffer;
  readonly #labels: ReadonlySet<string>;
  readonly #stats: StatWriter;
  readonly #base: number;

  constructor(
    { protocol, additionalLabels }: MetadataExchangeOptions,
    { id, metadata }: WorkerHeritage['node'],
    stats: StatWriter,
  ) {
    this.protocol = protocol;
    this.#labels = new Set(additionalLabels);
    this.message = framed(metadataOf(workloadOf(metadata, this.#labels)), id);
    this.#stats = stats;
    this.#base = stats.defineBlock(METADATA_EXCHANGE, 'metadata_exchange.');
  }

  /** Undefined: the bytes are no such message. */
  read(bytes: Buffer): Workload | undefined {
    return readMessage(bytes, () => {
      let struct: Buffer = Buffer.alloc(0);
      visitFields(bytes, (field) => {
        if (field.number === 2) struct = field.bytes() ?? struct;
      });
      return workloadOf(memberOf(readStruct(struct), METADATA), this.#labels);
    });
  }

  count(stat: Stat): void {
    this.#stats.increment(this.#base + METADATA_EXCHANGE.index[stat]);
  }

  release(): void {
    this.#stats.releaseBlock(this.#base);
  }
}

function framed(metadata: object, id: string): Buffer {
  const members: [string, unknown][] = [[METADATA, metadata]];
  if (id !== '') members.push([ID, id]);
  const struct = new ProtoWriter();
  writeMembers(struct, dictionary(members));
  const any = new ProtoWriter();
  any.utf8(1, STRUCT_TYPE);
  any.bytes(2, struct.finish());
  const bytes = any.finish();
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(MAGIC, 0);
  head.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([head, bytes]);
}

/** One connection's exchange, from its handshake on. */
export class MetadataExchangeOf {
  readonly #shared: MetadataExchanges;
  readonly #onPeer: (workload: Workload) => void;
  #kept: Buffer = Buffer.alloc(0);
  #isOver: boolean;

  /** `alpn` is what the handshake agreed on; undefined: the connection is plain. */
  constructor(
    shared: MetadataExchanges,
    alpn: string | undefined,
    write: (message: Buffer) => void,
    onPeer: (workload: Workload) => void,
  ) {
    this.#shared = shared;
    this.#onPeer = onPeer;
    this.#isOver = alpn !== shared.protocol;
    shared.count(this.#isOver ? 'alpn_protocol_not_found' : 'alpn_protocol_found');
    if (this.#isOver) return;
    write(shared.message);
    shared.count('metadata_added');
  }

  /** The peer's bytes without its message; undefined while that is not there as a whole. */
  take(bytes: Buffer): Buffer | undefined {
    if (this.#isOver) return bytes;
    const all = this.#kept.length === 0 ? bytes : Buffer.concat([this.#kept, bytes]);
    const length = all.length < HEAD_BYTES ? 0 : all.readUInt32BE(4);
    const isOther = all.length >= HEAD_BYTES && all.readUInt32BE(0) !== MAGIC;
    if (isOther || length > MAX_MESSAGE_BYTES) return this.#finish(all, 'initial_header_not_found');
    if (all.length < HEAD_BYTES) this.#shared.count('initial_header_not_found');
    if (all.length < HEAD_BYTES || all.length < HEAD_BYTES + length) {
      this.#kept = Buffer.from(all);
      return undefined;
    }
    const workload = this.#shared.read(all.subarray(HEAD_BYTES, HEAD_BYTES + length));
    const rest = all.subarray(HEAD_BYTES + length);
    if (workload === undefined) return this.#finish(rest, 'header_not_found');
    this.#onPeer(workload);
    return this.#finish(rest);
  }

  /** The peer sends nothing more: what was kept was no message. */
  takeLast(): Buffer {
    return this.#finish(this.#kept);
  }

  #finish(rest: Buffer, stat?: Stat): Buffer {
    this.#isOver = true;
    this.#kept = Buffer.alloc(0);
    if (stat !== undefined) this.#shared.count(stat);
    return rest;
  }
}
