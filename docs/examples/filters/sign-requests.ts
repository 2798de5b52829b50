// Signs requests for an upstream that checks them: HMAC-SHA-256 over method, path, time and body.
import { createHash, createHmac } from 'node:crypto';
import { defineFilter, object, string } from 'sluice/filter';

export default defineFilter({
  schema: object({
    key: string(),
    keyId: string(),
    header: string().optional('x-signature'),
  }),
  create({ key, keyId, header }) {
    const sign = (method: string, path: string, body: Uint8Array | string): string => {
      const seconds = Math.floor(Date.now() / 1000);
      const digest = createHash('sha256').update(body).digest('hex');
      const text = `${method}\n${path}\n${seconds}\n${digest}`;
      const signature = createHmac('sha256', key).update(text).digest('hex');
      return `keyId=${keyId},t=${seconds},v1=${signature}`;
    };
    return {
      // Also requests without a body, for which onRequestBody is not called.
      onRequestHeaders(headers) {
        headers.set(header, sign(headers.method, headers.path, ''));
      },
      onRequestBody(body, { request }) {
        request.set(header, sign(request.method, request.path, body));
      },
    };
  },
});
