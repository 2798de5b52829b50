/**
 * The runtime's zstd, where it has one: Node 22.15, 23.8 and newer. The types of Node 20 do not know
 * it.
 */
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

interface ZstdOptions {
  readonly writableHighWaterMark: number;
  readonly chunkSize: number;
  readonly flush?: number;
  readonly params?: Readonly<Record<number, number | boolean>>;
}

export interface Zstd {
  createZstdCompress(options: ZstdOptions): Transform;
  createZstdDecompress(options: ZstdOptions): Transform & { readonly bytesWritten: number };
  zstdCompressSync(data: Buffer | string, options?: Partial<ZstdOptions>): Buffer;
  zstdDecompressSync(data: Buffer): Buffer;
  readonly constants: {
    readonly ZSTD_e_flush: number;
    readonly ZSTD_c_compressionLevel: number;
    readonly ZSTD_c_strategy: number;
    readonly ZSTD_c_checksumFlag: number;
  };
}

const runtime: object = zlib;

export const zstd: Zstd | undefined =
  'createZstdCompress' in runtime ? (runtime as Zstd) : undefined;

const OWN = `Node.js ${process.versions.node}`;

/** Why nothing can be compressed; undefined where it can. */
export function whyNoZstdCompression(): string | undefined {
  return zstd === undefined ? `${OWN} has no zstd: it takes 22.15 or newer` : undefined;
}

/** Why nothing can be opened; undefined where it can. */
export function whyNoZstdDecompression(): string | undefined {
  if (zstd === undefined) return `${OWN} has no zstd: opening it takes 24 or newer`;
  try {
    zstd.zstdDecompressSync(zstd.zstdCompressSync('whole').subarray(0, -1));
  } catch {
    return undefined;
  }
  // A body that was cut off would be given on as a whole one.
  return `${OWN} takes a part of a zstd body for the whole: opening it takes 24 or newer`;
}
