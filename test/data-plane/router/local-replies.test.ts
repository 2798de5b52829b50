/** Answers that are made here, reworded as the connection manager's `local_reply_config` says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AccessLogFilter } from '../../../shared/resources/access-log.ts';
import type { LocalReplyOptions } from '../../../shared/resources/local-reply.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { addition, direct, prefix, route } from '../../support/parts/routes.ts';

const NOT_FOUND: AccessLogFilter = { kind: 'status_code', op: 'EQ', value: 404 };
const text = (format: string) => ({ kind: 'text', format, omitEmptyValues: false }) as const;

async function answerTo(localReplies: LocalReplyOptions, headers = ''): Promise<string> {
  await using plane = await startDataPlane({
    manager: { localReplies },
    routes: [route(prefix('/direct'), direct({ status: 200, body: Buffer.from('own') }))],
  });
  const client = await openRaw(plane.port);
  client.send(`GET /none HTTP/1.1\r\nhost: h\r\n${headers}connection: close\r\n\r\n`);
  const answer = await client.closed();
  client.destroy();
  return answer;
}

describe('local replies', () => {
  it('take status, body and headers of the first mapper that fits', async () => {
    const answer = await answerTo({
      mappers: [
        { filter: { ...NOT_FOUND, value: 400 }, status: 500, headers: [] },
        {
          filter: NOT_FOUND,
          status: 418,
          body: 'no tea %RESPONSE_CODE%',
          headers: [addition('x-was', '%RESPONSE_CODE% %REQ(:PATH)%')],
        },
        { filter: NOT_FOUND, status: 501, headers: [] },
      ],
    });
    assert.match(answer, /^HTTP\/1\.1 418 /);
    assert.match(answer, /\r\nx-was: 404 \/none\r\n/);
    assert.match(answer, /\r\n\r\nno tea %RESPONSE_CODE%$/);
  });

  it('are written by the mapper’s format, else by the common one', async () => {
    const bodyFormat = {
      format: text('<%LOCAL_REPLY_BODY%|%RESPONSE_CODE%>'),
      contentType: 'text/html',
    };
    const common = await answerTo({ mappers: [], bodyFormat });
    assert.match(common, /\r\ncontent-type: text\/html\r\n[^]*\r\n\r\n<\|404>$/);
    const fields = { code: '%RESPONSE_CODE%', body: '%LOCAL_REPLY_BODY%' };
    const json = { kind: 'json', fields, omitEmptyValues: false, sortProperties: false } as const;
    const mapped = await answerTo({
      mappers: [{ filter: NOT_FOUND, body: 'gone', bodyFormat: { format: json }, headers: [] }],
      bodyFormat,
    });
    assert.match(mapped, /\r\ncontent-type: application\/json\r\n/);
    assert.deepEqual(JSON.parse(mapped.split('\r\n\r\n')[1] ?? ''), { code: 404, body: 'gone' });
  });

  it('reach gRPC clients as the message of a status', async () => {
    const mappers = [{ filter: NOT_FOUND, status: 503, body: 'later', headers: [] }];
    const answer = await answerTo({ mappers }, 'content-type: application/grpc\r\n');
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.match(answer, /\r\ngrpc-status: 14\r\ngrpc-message: later\r\n/);
  });
});
