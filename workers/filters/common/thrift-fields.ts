/** Fields of Thrift messages, as dynamic metadata has them. */
import { isUtf8 } from 'node:buffer';
import type {
  ThriftEntry,
  ThriftRule,
} from '../../../shared/resources/filters/http/matching/thrift-to-metadata.ts';
import { dictionary } from '../../../shared/text/dictionary.ts';
import type { ThriftMessage } from '../../../shared/thrift/thrift-message.ts';
import { ThriftError, ThriftType, type ThriftValue } from '../../../shared/thrift/thrift-reader.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { addMetadata } from './add-metadata.ts';

const REPLY = 2;

export function writeThriftEntry(
  info: StreamInfo,
  entry: ThriftEntry | undefined,
  value: ThriftValue | undefined,
): void {
  if (entry === undefined) return;
  const written = entry.constant === undefined ? plain(value) : entry.constant.value;
  if (written === undefined) return;
  addMetadata(info, entry.namespace, dictionary([[entry.key, written]]));
}

function plain(value: ThriftValue | undefined): unknown {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string') return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}

/** What is wanted of the fields of a message, as far as it can be read. */
export class ThriftFields {
  readonly values = new Map<string, ThriftValue>();
  /** True of an answer that says success. */
  isSuccess: boolean | undefined = undefined;
  /** Paths that are wanted, and those on the way to them. */
  readonly #wanted = new Set<string>();
  readonly #outer = new Set<string>();

  constructor({ type, body }: Pick<ThriftMessage, 'type' | 'body'>, rules: readonly ThriftRule[]) {
    for (const { source } of rules) {
      if (source.kind === 'fact') continue;
      this.#wanted.add(source.path.join('.'));
      for (let length = 1; length < source.path.length; length++) {
        this.#outer.add(source.path.slice(0, length).join('.'));
      }
    }
    const readsReply = type === REPLY;
    if (this.#wanted.size === 0 && !readsReply) return;
    try {
      this.#struct(body, '', readsReply);
    } catch (error) {
      // What was read before is kept.
      if (!(error instanceof ThriftError || error instanceof RangeError)) throw error;
    }
  }

  #struct(body: ThriftMessage['body'], prefix: string, isReply: boolean): void {
    body.beginStruct();
    let isFirst = isReply;
    for (let field = body.field(); field !== undefined; field = body.field()) {
      if (isFirst) this.isSuccess = field.id === 0;
      isFirst = false;
      const path = `${prefix}${field.id}`;
      if (field.type === ThriftType.struct && this.#outer.has(path)) {
        this.#struct(body, `${path}.`, false);
        continue;
      }
      const value = body.value(field.type);
      if (value !== undefined && this.#wanted.has(path)) this.values.set(path, value);
    }
    if (isFirst) this.isSuccess = true;
    body.endStruct();
  }
}
