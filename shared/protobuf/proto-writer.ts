/**
 * Writes protobuf messages, in either process: fields in the order of the calls, scalars at their default
 * left out. Texts have one character per byte, as headers do; `utf8` takes any others.
 */
import { Wire } from './wire.ts';

const FIRST_BYTES = 512;
/** Shorter texts are written faster character by character than by a call into the runtime. */
const SHORT_TEXT = 40;
/** What a varint of 53 bits takes at most. */
const VARINT_BYTES_MAX = 10;

export class ProtoWriter {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  /** What was written; a view, valid until more is written. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  text(field: number, bytes: string): void {
    if (bytes === '') return;
    this.#head(field, bytes.length);
    if (bytes.length <= SHORT_TEXT) {
      this.#writeShort(bytes);
      this.#at += bytes.length;
    } else this.#at += this.#buffer.write(bytes, this.#at, 'latin1');
  }

  utf8(field: number, text: string): void {
    if (text === '') return;
    if (text.length <= SHORT_TEXT && this.#shortAscii(field, text)) return;
    const length = Buffer.byteLength(text);
    this.#head(field, length);
    this.#at += this.#buffer.write(text, this.#at, 'utf8');
  }

  bytes(field: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#head(field, bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Negative numbers have no place in these messages. */
  integer(field: number, value: number): void {
    if (value !== 0) this.integerOfOneof(field, value);
  }

  /** A bool is 0 or 1. */
  integerOfOneof(field: number, value: number): void {
    this.#reserve(2 * VARINT_BYTES_MAX);
    this.#varint(field * 8 + Wire.varint);
    this.#varint(value);
  }

  /** Also when it is zero. */
  double(field: number, value: number): void {
    this.#reserve(VARINT_BYTES_MAX + 8);
    this.#varint(field * 8 + Wire.fixed64);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** Also when it is zero. */
  fixed64(field: number, value: bigint): void {
    this.#reserve(VARINT_BYTES_MAX + 8);
    this.#varint(field * 8 + Wire.fixed64);
    this.#at = this.#buffer.writeBigUInt64LE(value, this.#at);
  }

  /** Also when it is zero. */
  fixed32(field: number, value: number): void {
    this.#reserve(VARINT_BYTES_MAX + 4);
    this.#varint(field * 8 + Wire.fixed32);
    this.#at = this.#buffer.writeUInt32LE(value, this.#at);
  }

  /** An int32 or int64 that is negative, as ten bytes. */
  negative(field: number, value: number): void {
    this.uint64(field, BigInt.asUintN(64, BigInt(value)));
  }

  /** What may have more than 53 bits; also when it is zero. */
  uint64(field: number, value: bigint): void {
    this.#reserve(2 * VARINT_BYTES_MAX);
    this.#varint(field * 8 + Wire.varint);
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) this.#buffer[this.#at++] = Number(rest & 0x7fn) | 0x80;
    this.#buffer[this.#at++] = Number(rest);
  }

  /** Also when nothing is written into it. */
  message(field: number, write: () => void): void {
    const lengthAt = this.#open(field);
    write();
    this.#close(lengthAt);
  }

  /** An entry of a map of texts, or a message with two of them. */
  textPair(field: number, first: string, second: string): void {
    const lengthAt = this.#open(field);
    this.text(1, first);
    this.text(2, second);
    this.#close(lengthAt);
  }

  /** Begins a message; most have less than 128 bytes, whose length is one. */
  #open(field: number): number {
    this.#reserve(2 * VARINT_BYTES_MAX);
    this.#varint(field * 8 + Wire.bytes);
    return this.#at++;
  }

  #close(lengthAt: number): void {
    const length = this.#at - lengthAt - 1;
    const more = varintBytes(length) - 1;
    if (more > 0) {
      this.#reserve(more);
      this.#buffer.copyWithin(lengthAt + 1 + more, lengthAt + 1, this.#at);
    }
    this.#at = lengthAt;
    this.#varint(length);
    this.#at += length;
  }

  /** Whether the text was one of ASCII; what was written of another is written over. */
  #shortAscii(field: number, text: string): boolean {
    const before = this.#at;
    this.#head(field, text.length);
    if (this.#writeShort(text) < 0x80) {
      this.#at += text.length;
      return true;
    }
    this.#at = before;
    return false;
  }

  /** Writes the lowest byte of each character; returns a number of all their bits. */
  #writeShort(text: string): number {
    const buffer = this.#buffer;
    const at = this.#at;
    let bits = 0;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      bits |= code;
      buffer[at + index] = code;
    }
    return bits;
  }

  #head(field: number, length: number): void {
    this.#reserve(2 * VARINT_BYTES_MAX + length);
    this.#varint(field * 8 + Wire.bytes);
    this.#varint(length);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#at++] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#at++] = rest;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#at + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}
