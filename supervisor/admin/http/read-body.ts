/** Collects a request's body up to a limit. */
import type { Readable } from 'node:stream';

/** The body as latin1 text, `too_large`, or `gone` when the client left first. Never rejects. */
export async function readBody(
  request: Readable,
  limitBytes: number,
): Promise<string | { readonly failed: 'too_large' | 'gone' }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return await new Promise((resolve) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limitBytes) resolve({ failed: 'too_large' });
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('latin1')));
    request.on('error', () => resolve({ failed: 'gone' }));
    request.on('close', () => resolve({ failed: 'gone' }));
  });
}
