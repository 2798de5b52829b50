/** Compresses a page while it is made. Only on request: it costs more time than making the page. */
import { Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { AdminResponse } from '../admin/admin-context.ts';

/** The page as it is for a client that does not take gzip. */
export function gzipped(page: AdminResponse, acceptEncoding: string): AdminResponse {
  const accepts = acceptEncoding.split(',').some((entry) => /^\s*(gzip|\*)\s*(;|$)/.test(entry));
  if (!accepts || typeof page.body === 'string' || page.body instanceof Uint8Array) return page;
  return {
    ...page,
    headers: { ...page.headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
    body: compressed(page.body),
  };
}

async function* compressed(
  body: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(body, { objectMode: true });
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  source.on('error', (error) => gzip.destroy(error));
  source.pipe(gzip);
  try {
    for await (const chunk of gzip) yield chunk as Uint8Array;
  } finally {
    // The client may have left in the middle.
    source.destroy();
    gzip.destroy();
  }
}
