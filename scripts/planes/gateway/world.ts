/** What stands behind the gateway: hosts of every protocol, a service of each kind, certificates. */
import tls from 'node:tls';
import type { AddressInfo } from 'node:net';
import type { ServerResponse } from 'node:http';
import { makeSigner, type Signer } from '../../../test/support/parts/tokens.ts';
import { makeAuthority, type TestAuthority } from '../../../test/support/parts/certificates.ts';
import { checkResponse } from '../../../test/support/peers/services/asked-services.ts';
import {
  type DatagramHost,
  startDatagramHost,
} from '../../../test/support/peers/services/datagrams.ts';
import {
  answerCall,
  framed,
  type GrpcPeer,
  startGrpcPeer,
} from '../../../test/support/peers/services/grpc-peer.ts';
import {
  processed,
  type ProcessorPeer,
  startProcessor,
} from '../../../test/support/peers/services/processor-peer.ts';
import { type HttpUpstream, startHttpUpstream } from '../../../test/support/peers/upstream.ts';
import { makeScratch } from '../../../test/support/scratch.ts';

export interface World extends AsyncDisposable {
  /** Answers by the first part of the path: `/status/503`, `/slow`, `/first/CODE/NAME`, or `web`. */
  readonly web: HttpUpstream;
  /** Answers `other`. */
  readonly other: HttpUpstream;
  /** Allows requests with `x-allowed`. */
  readonly authz: HttpUpstream;
  readonly authzGrpc: GrpcPeer;
  readonly echo: GrpcPeer;
  readonly processor: ProcessorPeer;
  readonly datagrams: DatagramHost;
  /**
   * The port of a host that speaks TLS with a certificate for `secure.test` and answers `secure`.
   */
  readonly securePort: number;
  readonly authority: TestAuthority;
  readonly signer: Signer;
}

export async function startWorld(): Promise<World> {
  const scratch = makeScratch();
  const authority = makeAuthority(scratch.path);
  const seen = new Set<string>();
  const web = await startHttpUpstream(({ url = '', headers }, response) =>
    answer(headers['x-long'] === undefined ? url : '/long', response, seen),
  );
  const other = await startHttpUpstream((_, response) => response.end('other'));
  const authz = await startHttpUpstream(({ headers }, response) => {
    response.statusCode = headers['x-allowed'] === undefined ? 403 : 200;
    response.setHeader('x-user', 'alice').end();
  });
  const authzGrpc = await startGrpcPeer((call) => {
    call.stream.on('end', () => {
      const allows = call.body().includes('x-allowed');
      answerCall(call, framed(checkResponse(allows ? {} : { code: 7, status: 403, body: 'no' })));
    });
  });
  const echo = await startGrpcPeer((call) => {
    call.stream.on('end', () => answerCall(call, call.body()));
  });
  const processor = await startProcessor(({ part }) =>
    processed(part, { set: { 'x-processed': 'yes' } }),
  );
  const datagrams = await startDatagramHost((text) => `back: ${text}`);
  const secure = await startSecure(authority);
  const parts = [web, other, authz, authzGrpc, echo, processor, datagrams];
  return {
    web,
    other,
    authz,
    authzGrpc,
    echo,
    processor,
    datagrams,
    securePort: (secure.address() as AddressInfo).port,
    authority,
    signer: makeSigner('ES256'),
    [Symbol.asyncDispose]: async () => {
      secure.close();
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()));
      scratch[Symbol.dispose]();
    },
  };
}

const SLOW_MS = 2_000;

function answer(url: string, response: ServerResponse, seen: Set<string>): void {
  const [, kind, value] = url.split('/');
  response.setHeader('x-host', 'web');
  if (kind === 'status') response.statusCode = Number(value);
  if (kind === 'first' && !seen.has(url)) {
    seen.add(url);
    response.statusCode = Number(value);
  }
  if (kind === 'slow') setTimeout(() => response.end('web'), SLOW_MS);
  else if (kind === 'long')
    response.setHeader('content-type', 'text/plain').end('web'.repeat(1000));
  else response.end('web');
}

async function startSecure(authority: TestAuthority): Promise<tls.Server> {
  const { cert, key } = authority.issue('secure', 'DNS:secure.test');
  const body = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecure';
  const server = tls.createServer({ cert, key }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => socket.write(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
